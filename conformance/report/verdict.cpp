// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/report/verdict.hpp"

#include <algorithm>
#include <cmath>

#include "core/ir/dtype.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::report {

std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string counted(uint64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", grouped(number), thing, number == 1 ? "" : "s");
}

std::string ulp_text(double ulp) {
  if (!std::isfinite(ulp)) return "beyond measure";
  return ulp < 1e6 ? fmt::format("{:.4g}", ulp) : fmt::format("{:.1e}", ulp);
}

bool is_cell(const CellRow& row) { return dtype_from_name(row.dtype).has_value(); }

namespace {

template <class Predicate>
uint64_t cells_where(const Report& report, Predicate holds) {
  return static_cast<uint64_t>(
      std::ranges::count_if(report.cells, [&](const auto& entry) { return holds(entry.second); }));
}

/// "3 crashes, 1 timeout": what took a worker process with it.
std::string bad_ends(const Counts& counts) {
  struct End {
    Status status;
    std::string_view one, many;
  };
  constexpr End kEnds[] = {{Status::kCrash, "crash", "crashes"},
                           {Status::kTimeout, "timeout", "timeouts"},
                           {Status::kDeviceLost, "lost device", "lost devices"}};
  std::string out;
  for (const End& end : kEnds)
    if (const uint64_t n = of(counts, end.status))
      out +=
          fmt::format("{}{} {}", out.empty() ? "" : ", ", grouped(n), n == 1 ? end.one : end.many);
  return out;
}

}  // namespace

std::string tried_text(const Report& r) {
  std::string out = r.planned
                        ? fmt::format("{} of {}", grouped(r.cases()), counted(r.planned, "case"))
                        : counted(r.cases(), "case");
  if (r.gaps.cells)
    out += fmt::format("; {} of {} of op and dtype", grouped(r.gaps.cells_reached),
                       counted(r.gaps.cells, "cell"));
  return out;
}

std::vector<std::pair<std::string, uint64_t>> reasons_of(const Report& r) {
  std::map<std::string, uint64_t> all;
  for (const auto& [key, row] : r.cells)
    for (const auto& [why, count] : row.reasons) all[why] += count;
  std::vector<std::pair<std::string, uint64_t>> out(all.begin(), all.end());
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

std::string verdict(const Report& r) {
  if (!r.cases()) return fmt::format("{}: no case was run.", r.backend);
  if (!tried(r.counts)) return fmt::format("{}: nothing was tried.", r.backend);
  const uint64_t failed = failing(r.counts);
  if (!failed)
    return fmt::format("{} {}: {}; none failed.", r.backend,
                       r.gaps.cells_reached < r.gaps.cells ? "is not tried whole" : "passes",
                       tried_text(r));
  const uint64_t broken = cells_where(r, [](const CellRow& row) { return failing(row.counts); });
  return fmt::format("{} fails: {} of {}, in {} of {}.", r.backend, grouped(failed),
                     counted(r.cases(), "case"), grouped(broken), counted(r.cells.size(), "cell"));
}

std::vector<std::string> remarks(const Report& r) {
  std::vector<std::string> out = r.notes;
  if (!r.stopped.empty()) out.push_back(fmt::format("No more cases were begun: {}.", r.stopped));
  if (const std::string ends = bad_ends(r.counts); !ends.empty())
    out.push_back(fmt::format("The run went on after {}; each cost its own case only.", ends));
  const auto is_only = [&](Status status) {
    return [status](const CellRow& row) { return headline(row.counts) == status; };
  };
  if (const uint64_t empty = cells_where(r, is_only(Status::kVacuous)))
    out.push_back(fmt::format("{} said nothing: every case was vacuous.", counted(empty, "cell")));
  if (const uint64_t refused = cells_where(r, is_only(Status::kUnsupported)))
    out.push_back(fmt::format("{} not supported.",
                              refused == 1 ? "1 cell is" : grouped(refused) + " cells are"));
  if (const uint64_t illegal = of(r.counts, Status::kToolError))
    out.push_back(fmt::format("{} not legal: an error of this tool, which says nothing about {}.",
                              illegal == 1 ? "1 case was" : grouped(illegal) + " cases were",
                              r.backend));
  if (const uint64_t known = of(r.counts, Status::kXfail))
    out.push_back(fmt::format("{} failed as the expectations say.", counted(known, "case")));
  if (r.gaps.cells_reached < r.gaps.cells)
    out.push_back("Less than one case an op and dtype was tried.");
  return out;
}

}  // namespace tenon::conformance::report
