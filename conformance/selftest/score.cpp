// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The score as a table and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "conformance/selftest/selftest.hpp"

namespace tenon::conformance::selftest {
namespace {

double nodes_of(const SelftestRow& row) { return row.nodes; }
double elements_of(const SelftestRow& row) { return static_cast<double>(row.elements); }
double shrinking_of(const SelftestRow& row) { return row.shrink_seconds; }
double seconds_of(const SelftestRow& row) { return row.seconds; }

int count(const std::vector<SelftestRow>& rows, bool benign, bool found) {
  return static_cast<int>(std::ranges::count_if(
      rows, [&](const SelftestRow& row) { return row.benign == benign && (row.found || !found); }));
}

/// An answer that was not the same again is found, but shown for what it is.
std::string verdict(const SelftestRow& row) {
  if (!row.tried && !row.found) return "NOT TRIED";
  if (row.benign) return row.found ? "FALSE ALARM" : "quiet";
  if (!row.found) return "MISSED";
  return row.status == "FLAKY" ? "found, flaky" : "found";
}

std::string line(const SelftestRow& row) {
  std::string out = fmt::format("{:<18}  {:<20}  {:<12}  {:>7.1f}  {:>8}", row.kind, row.name,
                                verdict(row), row.seconds, row.cases);
  if (!row.found) return out;
  const bool shrunk = row.nodes > 0;
  return fmt::format(
      "{}  {:>5}  {:>8}  {:>6.1f}  {} {}", out, shrunk ? std::to_string(row.nodes) : "-",
      shrunk ? std::to_string(row.elements) : "-", row.shrink_seconds, row.status, row.failure);
}

}  // namespace

int SelftestScore::planted() const { return count(rows, false, false); }
int SelftestScore::found() const { return count(rows, false, true); }
int SelftestScore::benign() const { return count(rows, true, false); }
int SelftestScore::false_alarms() const { return count(rows, true, true); }

double SelftestScore::median(double (*value)(const SelftestRow&)) const {
  std::vector<double> values;
  for (const SelftestRow& row : rows)
    if (!row.benign && row.found && row.nodes > 0) values.push_back(value(row));
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

int found_bar(double seconds) { return seconds >= 300 ? 146 : seconds >= 30 ? 115 : 0; }

std::string to_text(const SelftestScore& score) {
  std::string out =
      fmt::format("{:<18}  {:<20}  {:<12}  {:>7}  {:>8}  {:>5}  {:>8}  {:>6}  {}\n", "class",
                  "name", "", "seconds", "cases", "nodes", "elements", "shrink", "failure");
  for (const SelftestRow& row : score.rows) out += line(row) + "\n";
  for (const SelftestRow& row : score.rows)
    if (row.benign && row.found)
      out += fmt::format("false alarm, {}: {}\n    {}\n", row.name, row.text, row.replay);
  out += fmt::format("{} of {} planted bugs found in {:g} s each, {} of {} benign alarmed\n",
                     score.found(), score.planted(), score.seconds, score.false_alarms(),
                     score.benign());
  return out +
         fmt::format("median: {:g} nodes, {:g} elements, {:.1f} s to find, {:.1f} s to shrink\n",
                     score.median(nodes_of), score.median(elements_of), score.median(seconds_of),
                     score.median(shrinking_of));
}

std::string to_json(const SelftestScore& score) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const SelftestRow& row : score.rows)
    rows.push_back({{"name", row.name},
                    {"class", row.kind},
                    {"benign", row.benign},
                    {"found", row.found},
                    {"seconds", row.seconds},
                    {"cases", row.cases},
                    {"nodes", row.nodes},
                    {"elements", row.elements},
                    {"shrink_seconds", row.shrink_seconds},
                    {"status", row.status},
                    {"kind", row.failure},
                    {"text", row.text},
                    {"replay", row.replay}});
  const Json out = {{"planted", score.planted()},
                    {"found", score.found()},
                    {"benign", score.benign()},
                    {"false_alarms", score.false_alarms()},
                    {"seconds", score.seconds},
                    {"median_nodes", score.median(nodes_of)},
                    {"median_elements", score.median(elements_of)},
                    {"median_seconds", score.median(seconds_of)},
                    {"median_shrink_seconds", score.median(shrinking_of)},
                    {"rows", std::move(rows)}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tenon::conformance::selftest
