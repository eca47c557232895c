// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adds up outcomes; writes the files of a report.
#include "conformance/report/report.hpp"

#include <numeric>

#include "conformance/cases/files.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {

uint64_t CellRow::cases() const {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

uint64_t Report::cases() const {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

double Report::cases_per_second_per_core() const {
  return seconds > 0 ? static_cast<double>(cases()) / seconds / jobs : 0;
}

void Report::add(const Finished& finished) {
  const auto status = static_cast<size_t>(finished.outcome.status);
  ++counts[status];
  CellRow& row = cells[{finished.cell.op, finished.cell.dtype}];
  row.op = finished.cell.op;
  row.dtype = finished.cell.dtype;
  ++row.counts[status];
  if (finished.outcome.worst_ulp > row.worst_ulp) {
    row.worst_ulp = finished.outcome.worst_ulp;
    row.worst_input = finished.outcome.worst_input;
  }
}

void write_report(const Report& report, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    fail(ErrorKind::kEnvironment, "[report] expected to make {}, got: {}", folder.string(),
         error.message());
  write_file(folder / "report.json", to_json(report));
  write_file(folder / "report.md", to_markdown(report));
  write_file(folder / "junit.xml", to_junit(report));
  write_file(folder / "cells.csv", to_csv(report));
  write_file(folder / "report.html", to_html(report));
}

}  // namespace tenon::conformance
