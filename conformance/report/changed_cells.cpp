// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Row by row: failures, support, what a cell says, its worst error.
#include <algorithm>
#include <set>

#include "conformance/report/changes.hpp"
#include "conformance/report/verdict.hpp"
#include "core/ir/op.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::report {
namespace {

/// Sums and graphs are held to an interval: their distance in ULP says nothing.
bool has_ulp_bound(const CellRow& row) {
  const auto op = op_from_text(row.op);
  return (op && is_elementwise(*op)) || row.op.starts_with("cast.");
}

/// "12 FAIL (mismatch); tenon-conformance replay ..."
std::string failure_text(const Report& r, const CellRow& row) {
  Counts bad = row.counts;
  for (int i = 0; i < kStatusCount; ++i)
    if (!is_failure(static_cast<Status>(i))) bad[static_cast<size_t>(i)] = 0;
  std::string text = counts_text(bad);
  for (const Failure& f : r.failures)
    if (f.op == row.op && f.dtype == row.dtype)
      return fmt::format("{} ({}); {}", text, f.kind, f.replay);
  return text;
}

class Rows {
 public:
  Rows(const CellRow& before, const CellRow& after, const Report& report, double factor)
      : before_(before), after_(after), report_(report), factor_(factor) {}

  /// False if there is nothing to say.
  bool state(Change& out) const {
    const Status was = headline(before_.counts), is = headline(after_.counts);
    const uint64_t failed = failing(before_.counts), fails = failing(after_.counts);
    if (fails && !failed) return say(out, Turn::kWorse, "failure", failure_text(report_, after_));
    if (is == Status::kUnsupported && was != is)
      return say(out, Turn::kWorse, "support", "not supported any more");
    if (failed && !fails)
      return say(out, is == Status::kVacuous ? Turn::kNote : Turn::kBetter, "failure",
                 fmt::format("{} before, {} now", counts_text(before_.counts),
                             counts_text(after_.counts)));
    if (fails && is != was)
      return say(out, Turn::kNote, "failure",
                 fmt::format("fails in another way: {} before, {} now", status_name(was),
                             status_name(is)));
    if (was == Status::kUnsupported && is != was)
      return say(out, Turn::kBetter, "support", "supported now");
    if (was == Status::kVacuous && is == Status::kPass)
      return say(out, Turn::kBetter, "vacuous", "says something now");
    if (was == Status::kPass && is == Status::kVacuous)
      return say(out, Turn::kWorse, "vacuous", "every case is vacuous now");
    return false;
  }

  bool accuracy(Change& out) const {
    if (!has_ulp_bound(after_)) return false;
    const double was = std::max(before_.worst_ulp, 1.0), is = std::max(after_.worst_ulp, 1.0);
    const bool grew = is > was * factor_, shrank = was > is * factor_;
    return (grew || shrank) &&
           say(out, grew ? Turn::kWorse : Turn::kBetter, "accuracy",
               fmt::format("worst error {} ULP before, {} now{}", ulp_text(before_.worst_ulp),
                           ulp_text(after_.worst_ulp),
                           after_.worst_input.empty() ? "" : ", at " + after_.worst_input));
  }

 private:
  bool say(Change& out, Turn turn, std::string_view kind, std::string text) const {
    out = {turn, kind, after_.op + " " + after_.dtype, std::move(text)};
    return true;
  }

  const CellRow &before_, &after_;
  const Report& report_;
  double factor_;
};

void compare_lost(const CellRow& before, std::vector<Change>& out) {
  const bool ran = headline(before.counts) != Status::kUnsupported;
  out.push_back({ran ? Turn::kWorse : Turn::kNote, "tried", before.op + " " + before.dtype,
                 fmt::format("{} before, none now", counted(before.cases(), "case"))});
}

void compare_new(const Report& r, const CellRow& after, std::vector<Change>& out) {
  const std::string where = after.op + " " + after.dtype;
  if (failing(after.counts))
    out.push_back({Turn::kWorse, "failure", where, failure_text(r, after)});
  else
    out.push_back({Turn::kNote, "tried", where,
                   fmt::format("not tried before: {}", counts_text(after.counts))});
}

/// Of no row: stale lines of the expectations, cases with a known answer.
std::set<std::string> loose_failures(const Report& r) {
  std::set<std::string> out;
  for (const Failure& f : r.failures)
    if (!r.cells.contains({f.op, f.dtype})) out.insert(f.text);
  return out;
}

}  // namespace

void compare_cells(const Report& before, const Report& after, double factor,
                   std::vector<Change>& out) {
  std::set<std::pair<std::string, std::string>> keys;
  for (const auto& [key, row] : before.cells) keys.insert(key);
  for (const auto& [key, row] : after.cells) keys.insert(key);
  for (const auto& key : keys) {
    const auto old = before.cells.find(key), now = after.cells.find(key);
    if (now == after.cells.end()) {
      compare_lost(old->second, out);
    } else if (old == before.cells.end()) {
      compare_new(after, now->second, out);
    } else {
      const Rows rows(old->second, now->second, after, factor);
      Change change;
      if (rows.state(change)) out.push_back(change);
      if (rows.accuracy(change)) out.push_back(change);
    }
  }
  const std::set<std::string> old = loose_failures(before), now = loose_failures(after);
  for (const std::string& text : now)
    if (!old.contains(text)) out.push_back({Turn::kWorse, "failure", "", text});
  for (const std::string& text : old)
    if (!now.contains(text)) out.push_back({Turn::kBetter, "failure", "", "no more: " + text});
}

}  // namespace tenon::conformance::report
