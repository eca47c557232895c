// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a whole run came to: counts, one row for each op and dtype, failures. report.json holds all
// of it; every other form is made from that.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "conformance/worker_client.hpp"

namespace tenon::conformance {

using Counts = std::array<uint64_t, kStatusCount>;

struct CellRow {
  std::string op, dtype;
  Counts counts{};
  double worst_ulp = 0;
  std::string worst_input;
  uint64_t cases() const;
};

struct Failure {
  std::string name;  ///< "seed:index"
  Status status = Status::kFail;
  std::string kind, op, dtype, layout;
  std::string text;
  std::string replay;      ///< the command line
  std::string reproducer;  ///< the text of the shrunk case; "" if it was not shrunk
};

struct Report {
  std::string plugin, backend, device, declaration;
  uint64_t seed = 0;
  Counts counts{};
  double seconds = 0;
  int jobs = 1;
  std::map<std::pair<std::string, std::string>, CellRow> cells;  ///< by op, then dtype
  std::vector<Failure> failures;

  uint64_t cases() const;
  double cases_per_second_per_core() const;
  void add(const Finished& finished);
};

/// report.json. Parsing throws kInvalid with the field.
std::string to_json(const Report& report);
Report parse_report(std::string_view text);

std::string to_markdown(const Report& report);
std::string to_junit(const Report& report);
std::string to_csv(const Report& report);
std::string to_html(const Report& report);

/// With &, <, > and quotes as HTML and XML want them.
std::string escape_markup(std::string_view text);

/// report.json, report.md, junit.xml, cells.csv and report.html. Throws kEnvironment.
void write_report(const Report& report, const std::filesystem::path& folder);
void write_file(const std::filesystem::path& path, const std::string& text);
std::string read_file(const std::filesystem::path& path);

}  // namespace tenon::conformance
