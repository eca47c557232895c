// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a whole run came to: counts, one row for each op and dtype, failures. report.json holds all
// of it; every other form is made from that.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/outcome.hpp"
#include "conformance/cases/target.hpp"

namespace tenon::conformance::report {

using Counts = std::array<uint64_t, kStatusCount>;

inline uint64_t of(const Counts& counts, Status status) {
  return counts[static_cast<size_t>(status)];
}
uint64_t sum(const Counts& counts);
uint64_t failing(const Counts& counts);  ///< of every status that is_failure
uint64_t tried(const Counts& counts);    ///< of every status that is_tried
/// The status that stands for many cases: the worst failure; else TOOL_ERROR, XFAIL, PASS if there
/// is one, VACUOUS, UNSUPPORTED.
Status headline(const Counts& counts);
std::string counts_text(const Counts& counts);  ///< "56 PASS, 2 VACUOUS"

inline constexpr size_t kMostReasons = 8;  ///< of a row
inline constexpr std::string_view kOtherReasons = "other reasons";

struct CellRow {
  std::string op, dtype;
  Counts counts{};
  double worst_ulp = 0;
  std::string worst_input;
  std::map<std::string, uint64_t> layouts = {};  ///< cases of each layout
  std::map<int, UlpSample> ulps = {};            ///< the worst of each bucket
  /// Why cases were UNSUPPORTED, with their counts; beyond kMostReasons under kOtherReasons.
  std::map<std::string, uint64_t> reasons = {};
  uint64_t cases() const { return sum(counts); }
  double vacuous_share() const;  ///< of the cases that ran
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

/// Where and how the run was made. The driver is among Report::properties.
struct Environment {
  std::string tool;       ///< "tenon-conformance 0.1.0, plugin ABI 1"
  std::string processor;  ///< "AMD EPYC, 2 threads"
  std::string system;     ///< "Linux 6.1.0 x86_64"
  std::string date;       ///< when the report was made: "2026-11-21T14:03:38Z"
  std::string command;    ///< the command line
};

/// A name, and others that it was never seen with.
struct Missing {
  std::string op;
  std::vector<std::string> with;
};

/// What was not tried, as far as the tool that made the report knew of it.
struct Gaps {
  std::vector<Missing> dtypes;            ///< cells never reached: an op, and its dtypes
  std::vector<Missing> consumers;         ///< pairs never reached: an op, and what it never fed
  uint64_t pairs = 0, pairs_reached = 0;  ///< of ops, the one feeding the other
  std::string vocabulary;                 ///< names the numbering of Report::reached
  /// Of op and dtype, refusals left out: all there are, and of how many a case has run or was
  /// refused with a reason. 0 of a device that computes nothing.
  uint64_t cells = 0, cells_reached = 0;
};

struct Report {
  std::string plugin, backend, device, declaration;
  std::string properties = "{}";  ///< DeviceFacts::properties
  uint64_t seed = 0;
  uint64_t planned = 0;  ///< cases of the whole run; 0 if only time ends it
  Counts counts{};
  double seconds = 0;
  int jobs = 1;
  std::string stopped;             ///< why no more cases were begun; "" if all were
  std::vector<std::string> notes;  ///< sentences on the run: what put the device in doubt
  uint64_t digest = 0;             ///< of all outputs of all cases: equal runs have equal ones
  std::map<std::pair<std::string, std::string>, CellRow> cells;  ///< by op, then dtype
  std::vector<Failure> failures;
  uint32_t needs = 0;                 ///< Needs, of all passing cases together
  std::vector<bool> reached;          ///< by coverage cell
  double first_failure_seconds = -1;  ///< from the start of the run; < 0 if nothing failed
  Environment environment;
  Gaps gaps;

  uint64_t cases() const { return sum(counts); }
  uint64_t coverage() const;  ///< coverage cells reached
  double cases_per_second_per_core() const;
  void add(const Finished& finished);
};

/// Fills in what the run itself does not know: environment and gaps. A device that computes nothing
/// has none.
void complete(Report& report, bool computes = true);

/// What report.json says it is.
inline constexpr std::string_view kFormat = "tenon-conformance report";
/// report.json. Parsing throws kInvalid with the field.
std::string to_json(const Report& report);
Report parse_report(std::string_view text);
/// Of a file; what it throws names the file.
Report read_report(const std::filesystem::path& file);

std::string to_junit(const Report& report);
std::string to_html(const Report& report);

/// report.json, junit.xml and report.html. Throws kEnvironment.
void write_report(const Report& report, const std::filesystem::path& folder);

}  // namespace tenon::conformance::report
