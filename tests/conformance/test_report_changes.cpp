// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compare: what counts as worse, as better, and as neither.
#include <catch2/catch_test_macros.hpp>

#include "conformance/report/changes.hpp"
#include "core/support/error.hpp"
#include "tests/conformance/sample_report.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::report;

namespace {

Report one_cell(const char* op, Status status, double ulp = 0) {
  Report r;
  r.declaration = "strict, deterministic";
  r.environment.processor = "a processor";
  r.add(finished(op, "f32", status, ulp));
  return r;
}

/// "worse failure", and so on, of one change; "" of none.
std::string change(const Report& before, const Report& after) {
  const std::vector<Change> changes = changes_between(before, after, 2);
  if (changes.empty()) return "";
  INFO(changes_text(before, after, changes));
  CHECK(changes.size() == 1);
  return fmt::format("{} {}", turn_name(changes[0].turn), changes[0].kind);
}

std::string change(Status before, Status after) {
  return change(one_cell("sin", before), one_cell("sin", after));
}

}  // namespace

TEST_CASE("a report does not differ from itself") {
  const Report report = sample_report();
  CHECK(changes_between(report, report, 2).empty());
  CHECK(changes_text(report, report, {}).ends_with("Nothing changed.\n"));
}

TEST_CASE("cells change state") {
  CHECK(change(Status::kPass, Status::kFail) == "worse failure");
  CHECK(change(Status::kUnsupported, Status::kCrash) == "worse failure");
  CHECK(change(Status::kXfail, Status::kFail) == "worse failure");
  CHECK(change(Status::kFail, Status::kPass) == "better failure");
  CHECK(change(Status::kFail, Status::kVacuous) == "note failure");
  CHECK(change(Status::kFail, Status::kTimeout) == "note failure");
  CHECK(change(Status::kPass, Status::kUnsupported) == "worse support");
  CHECK(change(Status::kFail, Status::kUnsupported) == "worse support");
  CHECK(change(Status::kUnsupported, Status::kPass) == "better support");
  CHECK(change(Status::kPass, Status::kVacuous) == "worse vacuous");
  CHECK(change(Status::kVacuous, Status::kPass) == "better vacuous");
}

TEST_CASE("cells that are no longer tried, and new ones") {
  Report none = one_cell("sin", Status::kPass);
  Report both = none;
  both.add(finished("cos", "f32", Status::kPass));
  CHECK(change(both, none) == "worse tried");
  CHECK(change(none, both) == "note tried");
  Report failed = none;
  failed.add(finished("cos", "f32", Status::kFail));
  failed.add(finished("cos", "f32", Status::kFail));
  CHECK(change(none, failed) == "worse failure");
}

TEST_CASE("worst errors count beyond the factor, where ULP are the measure") {
  const auto sin = [](double ulp) { return one_cell("sin", Status::kPass, ulp); };
  CHECK(change(sin(2), sin(4)).empty());
  CHECK(change(sin(2), sin(5)) == "worse accuracy");
  CHECK(change(sin(5), sin(2)) == "better accuracy");
  CHECK(change(sin(0), sin(2)).empty());  // less than one step is one step
  CHECK(change(sin(3), sin(INFINITY)) == "worse accuracy");
  CHECK(change(one_cell("reduce.add", Status::kPass, 3), one_cell("reduce.add", Status::kPass, 900))
            .empty());
}

TEST_CASE("declarations, rate, coverage and failures of no cell") {
  const Report base = one_cell("sin", Status::kPass);
  Report other = base;
  other.declaration = "strict, flushes subnormal results, deterministic";
  CHECK(change(base, other) == "worse declaration");
  CHECK(change(other, base) == "better declaration");
  other.declaration = "strict, not deterministic";
  CHECK(change(base, other) == "worse declaration");
  other = base;
  other.properties = R"({"driver": "5.11"})";
  CHECK(change(base, other) == "note declaration");
  Report timed = base;
  timed.seconds = 1;
  other = timed;
  other.seconds = 3;
  CHECK(change(timed, other) == "worse rate");
  CHECK(change(other, timed) == "better rate");
  other.seconds = 1.9;
  CHECK(change(timed, other).empty());
  Report wide = base, narrow = base;
  wide.reached = {true, true, false};
  narrow.reached = {true, false, false};
  CHECK(change(wide, narrow) == "note coverage");
  other = base;
  other.failures.push_back({.status = Status::kXpass, .text = "line 3 passes"});
  CHECK(change(base, other) == "worse failure");
  CHECK(change(other, base) == "better failure");
  other = base;
  other.stopped = "the time of 30 s is up";
  CHECK(change(base, other) == "note run");
  other = base;
  other.notes = {"device in doubt: it did not start"};
  CHECK(change(base, other) == "worse run");
}

TEST_CASE("failures are told first, with the line that replays them") {
  Report before = one_cell("sin", Status::kPass), after = before;
  before.add(finished("abs", "f32", Status::kPass));
  after.add(finished("add", "f32", Status::kFail));
  after.failures.push_back(sample_failure());
  const std::vector<Change> changes = changes_between(before, after, 2);
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].text == "1 FAIL (mismatch); tenon-conformance replay 7:1 --backend x");
  CHECK(got_worse(changes));
  const std::string text = changes_text(before, after, changes);
  CHECK(text.find("worse   failure     add f32: 1 FAIL") != text.npos);
  CHECK(text.ends_with("Something got worse.\n"));
  const std::string json = changes_json(before, after, changes);
  CHECK(json.find("\"worse\": true") != json.npos);
}

TEST_CASE("a file that is no report is named") {
  try {
    read_report(TENON_SOURCE_DIR "/LICENSE");
    FAIL();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kInvalid);
    CHECK(std::string(error.what()).find("LICENSE") != std::string::npos);
    CHECK(std::string(error.what()).find("expected a report.json") != std::string::npos);
  }
}
