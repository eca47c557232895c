// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/support/error.hpp"

namespace tenon::bench {
namespace {

nlohmann::json number(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json measured(double value) {
  return value > 0 ? nlohmann::json(value) : nlohmann::json(nullptr);
}

std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

}  // namespace

const Limits::PerThreads& Limits::of(int threads) const {
  for (const PerThreads& limit : all)
    if (limit.threads == threads) return limit;
  fail(ErrorKind::kInternal, "limits of {} threads were not measured", threads);
}

std::optional<double> ratio_of(double ours, std::optional<double> peer, bool lower_is_better) {
  if (!peer || ours <= 0 || *peer <= 0) return std::nullopt;
  return lower_is_better ? *peer / ours : ours / *peer;
}

bool Report::correct() const {
  for (const Row& row : rows)
    if (!row.wrong.empty()) return false;
  return true;
}

std::string Report::json() const {
  nlohmann::json out;
  out["machine"] = {{"cpu", machine.cpu},       {"cores", machine.cores}, {"isa", machine.isa},
                    {"kernel", machine.kernel}, {"build", machine.build}, {"load", machine.load}};
  out["limits"] = nlohmann::json::object();
  for (const Limits::PerThreads& limit : limits.all) {
    out["limits"][fmt::format("fma_f32_gflops_{}t", limit.threads)] = measured(limit.fma_gflops);
    out["limits"][fmt::format("copy_gbs_{}t", limit.threads)] = measured(limit.copy_gbs);
  }
  out["rows"] = nlohmann::json::array();
  for (const Row& row : rows) {
    nlohmann::json r = {{"name", row.name},
                        {"ours", row.ours},
                        {"unit", row.unit},
                        {"peer", number(row.peer)},
                        {"peer_name", row.peer_name},
                        {"ratio", number(row.ratio)},
                        {"limit_ratio", number(row.limit_ratio)},
                        {"spread", row.spread}};
    if (row.best > 0) r["best"] = row.best;
    if (row.lowest_ratio) r["lowest_ratio"] = *row.lowest_ratio;
    if (!row.wrong.empty()) r["wrong"] = row.wrong;
    out["rows"].push_back(std::move(r));
  }
  if (!not_run.empty()) out["not_run"] = not_run;
  return out.dump(2) + "\n";
}

std::string Report::table() const {
  std::string out = fmt::format("{}, {} cores, {}, {} build, {}\n", machine.cpu, machine.cores,
                                machine.isa, machine.build, machine.kernel);
  for (const Limits::PerThreads& limit : limits.all)
    out +=
        fmt::format("limits with {} thread{}: {:.0f} GFLOP/s f32, {:.1f} GB/s copied\n",
                    limit.threads, limit.threads == 1 ? "" : "s", limit.fma_gflops, limit.copy_gbs);
  out += fmt::format("\n{:<38} {:>10} {:<8} {:>10} {:>6} {:>6} {:>6} {:>7}  {}\n", "", "ours", "",
                     "peer", "ratio", "lowest", "limit", "spread", "peer is");
  for (const Row& row : rows) {
    out += fmt::format("{:<38} {:>10.2f} {:<8} {:>10} {:>6} {:>6} {:>6} {:>6.1f}%  {}{}\n",
                       row.name, row.ours, row.unit, cell(row.peer), cell(row.ratio),
                       cell(row.lowest_ratio), cell(row.limit_ratio), row.spread * 100,
                       row.peer_name, row.wrong.empty() ? "" : "\n    WRONG RESULT: " + row.wrong);
  }
  for (const std::string& name : not_run)
    out += fmt::format("{:<38} not run: no time left\n", name);
  return out;
}

void Report::merge_runs() {
  std::vector<Row> merged;
  for (const Row& first : rows) {
    if (std::ranges::find(merged, first.name, &Row::name) != merged.end()) continue;
    std::vector<Row> runs;
    for (const Row& row : rows)
      if (row.name == first.name) runs.push_back(row);
    const auto value = [](const Row& row) { return row.ratio.value_or(row.ours); };
    std::ranges::stable_sort(runs, {}, value);
    Row middle = runs[(runs.size() - 1) / 2];
    if (runs.size() > 1) middle.lowest_ratio = runs[0].ratio;
    for (const Row& row : runs)
      if (middle.wrong.empty()) middle.wrong = row.wrong;
    merged.push_back(std::move(middle));
  }
  rows = std::move(merged);
  std::ranges::sort(not_run);
  not_run.erase(std::ranges::unique(not_run).begin(), not_run.end());
  std::erase_if(not_run, [&](const std::string& name) {
    return std::ranges::find(rows, name, &Row::name) != rows.end();
  });
}

std::string Report::moved_since(const std::string& baseline) const {
  const auto before = nlohmann::json::parse(baseline, nullptr, false);
  std::map<std::string, std::pair<double, double>> known;  // ours and spread
  try {
    for (const auto& row : before.at("rows"))
      known[row.at("name")] = {row.at("ours").get<double>(), row.at("spread").get<double>()};
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::kInvalid, "[--baseline] expected what tenon-bench --json prints, got {}",
         error.what());
  }
  std::string out;
  for (const Row& row : rows) {
    const auto at = known.find(row.name);
    if (at == known.end()) {
      out += fmt::format("new    {}: {:.2f} {}\n", row.name, row.ours, row.unit);
      continue;
    }
    const auto [ours, spread] = at->second;
    known.erase(at);
    const double change = ours > 0 ? row.ours / ours - 1 : 0;
    // By factors, so that half as much and twice as much are as far.
    if (std::abs(std::log1p(change)) > std::log1p(std::max(0.02, row.spread + spread)))
      out += fmt::format("{:>+5.0f}% {}: {:.2f} to {:.2f} {}\n", 100 * change, row.name, ours,
                         row.ours, row.unit);
  }
  return out.empty() ? "nothing has moved\n" : out;
}

}  // namespace tenon::bench
