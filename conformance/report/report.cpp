// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adds up outcomes; writes the files of a report.
#include "conformance/report/report.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "conformance/cases/files.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::report {

uint64_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

uint64_t failing(const Counts& counts) {
  uint64_t n = 0;
  for (int i = 0; i < kStatusCount; ++i)
    if (is_failure(static_cast<Status>(i))) n += counts[static_cast<size_t>(i)];
  return n;
}

uint64_t tried(const Counts& counts) {
  uint64_t n = 0;
  for (int i = 0; i < kStatusCount; ++i)
    if (is_tried(static_cast<Status>(i))) n += counts[static_cast<size_t>(i)];
  return n;
}

Status headline(const Counts& counts) {
  constexpr Status kWorstFirst[] = {
      Status::kFail,  Status::kCrash,     Status::kTimeout, Status::kDeviceLost, Status::kFlaky,
      Status::kXpass, Status::kToolError, Status::kXfail,   Status::kPass,       Status::kVacuous};
  for (const Status status : kWorstFirst)
    if (of(counts, status)) return status;
  return Status::kUnsupported;
}

std::string counts_text(const Counts& counts) {
  std::string text;
  for (int i = 0; i < kStatusCount; ++i)
    if (const uint64_t n = counts[static_cast<size_t>(i)])
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", n, status_name(static_cast<Status>(i)));
  return text.empty() ? "no cases" : text;
}

double CellRow::vacuous_share() const {
  const uint64_t ran = tried(counts);
  return ran ? static_cast<double>(of(counts, Status::kVacuous)) / static_cast<double>(ran) : 0;
}

uint64_t Report::coverage() const {
  return static_cast<uint64_t>(std::ranges::count(reached, true));
}

double Report::cases_per_second_per_core() const {
  // From the milliseconds that report.json has, so that what is read back says the same.
  const double time = std::round(seconds * 1e3) / 1e3;
  return time > 0 ? static_cast<double>(cases()) / time / jobs : 0;
}

void Report::add(const Finished& finished) {
  const Outcome& outcome = finished.outcome;
  const auto status = static_cast<size_t>(outcome.status);
  ++counts[status];
  CellRow& row = cells[{finished.cell.op, finished.cell.dtype}];
  row.op = finished.cell.op;
  row.dtype = finished.cell.dtype;
  ++row.counts[status];
  if (!finished.cell.layout.empty()) ++row.layouts[finished.cell.layout];
  if (outcome.status == Status::kUnsupported) {
    const bool has_room = row.reasons.size() < kMostReasons || row.reasons.contains(outcome.text);
    ++row.reasons[has_room ? outcome.text : std::string(kOtherReasons)];
  }
  if (outcome.worst_ulp > row.worst_ulp) {
    row.worst_ulp = outcome.worst_ulp;
    row.worst_input = outcome.worst_input;
  }
  for (const UlpSample& sample : outcome.ulps) {
    const auto [at, added] = row.ulps.emplace(sample.bucket, sample);
    if (!added && sample.ulp > at->second.ulp) at->second = sample;
  }
  if (outcome.status == Status::kPass) needs |= outcome.needs;
  for (const uint32_t cell : finished.reached) {
    if (cell >= reached.size()) reached.resize(cell + 1);
    reached[cell] = true;
  }
}

void write_report(const Report& report, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    fail(ErrorKind::kEnvironment, "[report] expected to make {}, got: {}", folder.string(),
         error.message());
  const std::string json = to_json(report);
  const Report read = parse_report(json);  // all that the other forms may know
  write_file(folder / "report.json", json);
  write_file(folder / "junit.xml", to_junit(read));
  write_file(folder / "report.html", to_html(read));
}

}  // namespace tenon::conformance::report
