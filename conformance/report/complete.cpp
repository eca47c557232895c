// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the run was made, and what it never tried.
#include <sys/utsname.h>

#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "conformance/cases/graphs/cells.hpp"
#include "conformance/cases/reach.hpp"
#include "conformance/report/report.hpp"
#include "core/support/error.hpp"
#include "core/support/hash.hpp"
#include "core/support/shell.hpp"
#include "tenon/plugin.h"

namespace tenon::conformance::report {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string name = "unknown processor";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") && line.find(": ") != line.npos) {
      name = line.substr(line.find(": ") + 2);
      break;
    }
  return fmt::format("{}, {} threads", name, std::thread::hardware_concurrency());
}

std::string system_name() {
  utsname names{};
  if (uname(&names) != 0) return "unknown system";
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

std::string date() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// The program is named without its folder.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string out;
  for (std::string word; std::getline(file, word, '\0');) {
    if (out.empty()) word = std::filesystem::path(word).filename().string();
    out += (out.empty() ? "" : " ") + shell_word(word);
  }
  return out;
}

/// Groups pairs by their first name; both orders are kept as they came.
std::vector<Missing> grouped_by_source(
    const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<Missing> out;
  std::map<std::string, size_t> at;
  for (const auto& [op, with] : pairs) {
    const auto [found, added] = at.emplace(op, out.size());
    if (added) out.push_back({op, {}});
    out[found->second].with.push_back(with);
  }
  return out;
}

std::vector<Missing> missing_dtypes(const Report& report) {
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<std::pair<std::string, std::string>> missing;
  for (const graphs::CellSpec& spec : graphs::all_cells()) {
    const Cell cell = graphs::describe(spec);
    if (seen.emplace(cell.op, cell.dtype).second && !report.cells.contains({cell.op, cell.dtype}))
      missing.emplace_back(cell.op, cell.dtype);
  }
  return grouped_by_source(missing);
}

/// Of op and dtype: one of which a case has run, or was refused with a reason.
void count_cells(Report& report) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const graphs::CellSpec& spec : graphs::all_cells()) {
    if (spec.kind == graphs::CellKind::kRefusal) continue;
    const Cell cell = graphs::describe(spec);
    if (!seen.emplace(cell.op, cell.dtype).second) continue;
    const auto row = report.cells.find({cell.op, cell.dtype});
    report.gaps.cells_reached += row != report.cells.end() &&
                                 row->second.cases() > of(row->second.counts, Status::kToolError);
  }
  report.gaps.cells = seen.size();
}

/// Of "add > reduce.max f16 permuted" and "add > reduce.max, split": add, reduce.max.
std::pair<std::string, std::string> ops_of(const std::string& name) {
  const size_t arrow = name.find(" > ");
  if (arrow == name.npos) return {};
  const size_t end = name.find_first_of(" ,", arrow + 3);
  return {name.substr(0, arrow), name.substr(arrow + 3, end - arrow - 3)};
}

void find_missing_pairs(Report& report) {
  std::map<std::pair<std::string, std::string>, bool> pairs;
  uint64_t hash = 0;
  for (uint32_t cell = 0; cell < report.reached.size(); ++cell) {
    const std::string name = reach_name(cell);
    hash = hash_bytes(hash, name);
    const auto ops = ops_of(name);
    if (!ops.first.empty()) pairs[ops] = pairs[ops] || report.reached[cell];
  }
  std::vector<std::pair<std::string, std::string>> missing;
  for (const auto& [ops, reached] : pairs)
    if (!reached) missing.push_back(ops);
  report.gaps.pairs = pairs.size();
  report.gaps.pairs_reached = pairs.size() - missing.size();
  report.gaps.consumers = grouped_by_source(missing);
  report.gaps.vocabulary = fmt::format("{:016x}", hash);
}

}  // namespace

void complete(Report& report, bool computes) {
  report.environment = {
      fmt::format("tenon-conformance {}, plugin ABI {}", TENON_VERSION, TN_ABI_VERSION),
      processor(), system_name(), date(), command_line()};
  if (!computes) return;
  report.reached.resize(reach_size());
  report.gaps.dtypes = missing_dtypes(report);
  report.gaps.cells_reached = 0;  // of the run that this one goes on with
  count_cells(report);
  find_missing_pairs(report);
}

}  // namespace tenon::conformance::report
