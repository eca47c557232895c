// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a whole run came to: counts, one row for each op and dtype, failures. report.json holds all
// of it; every other form is made from that.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "conformance/cases/outcome.hpp"
#include "conformance/cases/target.hpp"

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
  std::string name = {};  ///< "seed:index"
  Status status = Status::kFail;
  std::string kind = {}, op = {}, dtype = {}, layout = {};
  std::string text = {};
  std::string replay = {};      ///< the command line
  std::string reproducer = {};  ///< the text of the shrunk case; "" if it was not shrunk
  std::string diff = {};        ///< expected and got, element by element: Outcome::diff
  std::string votes = {};      ///< what other plugins answer to the same case; "" if none was asked
  std::string transform = {};  ///< layer 3: the first step that changes the result
  int nodes = 0;               ///< of the shrunk graph, or steps of the shrunk sequence
  int64_t elements = 0;        ///< of the largest input or output of the shrunk case
  double shrink_seconds = 0;
  uint64_t same = 0;  ///< other cases that failed in the same way and were not shrunk
};

struct Report {
  std::string plugin, backend, device, declaration;
  std::string properties = "{}";  ///< DeviceFacts::properties
  uint64_t seed = 0;
  Counts counts{};
  double seconds = 0;
  int jobs = 1;
  std::map<std::pair<std::string, std::string>, CellRow> cells;  ///< by op, then dtype
  std::vector<Failure> failures;
  uint32_t needs = 0;                 ///< Needs, of all passing cases together
  std::vector<bool> reached;          ///< by coverage cell
  double first_failure_seconds = -1;  ///< from the start of the run; < 0 if nothing failed

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

}  // namespace tenon::conformance
