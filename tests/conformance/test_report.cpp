// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports: JSON round trip, all forms from it, damaged files, expectations.
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "conformance/cases/choices.hpp"
#include "conformance/report/expectations.hpp"
#include "conformance/report/report.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using namespace tenon::conformance;

namespace {

Finished finished(const char* op, const char* dtype, Status status, double ulp = 0) {
  return {1, 0, {op, dtype, "contiguous"}, {status, "kind", "a \"text\" <&>", ulp, "1.5"}};
}

Report sample() {
  Report report;
  report.plugin = "/plugins/libtenon_x.so";
  report.backend = "x";
  report.device = "x:0 (a \"device\")";
  report.declaration = "strict";
  report.seed = 7;
  report.seconds = 2;
  report.jobs = 2;
  report.add(finished("add", "f32", Status::kPass, 0.5));
  report.add(finished("add", "f32", Status::kFail, INFINITY));
  report.add(finished("sin", "f64", Status::kVacuous));
  report.add(finished("sin", "bf16", Status::kUnsupported));
  Failure failure;
  failure.name = "7:1";
  failure.op = "add";
  failure.dtype = "f32";
  failure.text = "a <b> & \"c\"";
  failure.replay = "tenon-conformance replay 7:1 --backend x";
  failure.reproducer = "graph g() {\n}\n";
  report.failures.push_back(failure);
  return report;
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("report.json reads back the same") {
  const Report report = sample();
  const std::string text = to_json(report);
  const Report back = parse_report(text);
  CHECK(to_json(back) == text);
  CHECK(back.counts == report.counts);
  CHECK(back.cases() == 4);
  CHECK(std::isinf(back.cells.at({"add", "f32"}).worst_ulp));
  CHECK(back.failures[0].reproducer == report.failures[0].reproducer);
  CHECK(report.cases_per_second_per_core() == 1);
  for (const char* key : {"\"plugin\"", "\"backend\"", "\"device\"", "\"seed\"", "\"counts\"",
                          "\"DEVICE_LOST\"", "\"cases_per_second_per_core\"", "\"cells\"",
                          "\"failures\"", "\"case\"", "\"status\"", "\"text\"", "\"replay\""})
    CHECK(text.find(key) != text.npos);
}

TEST_CASE("the other forms say what the report says") {
  const Report report = sample();
  const std::string html = to_html(report), junit = to_junit(report), csv = to_csv(report);
  CHECK(html.find("://") == html.npos);  // no resource from outside
  CHECK(html.find("<b> &") == html.npos);
  CHECK(html.find("replay 7:1") != html.npos);
  CHECK(count(html, "<td><a class=fail ") == 1);
  CHECK(count(html, "<td><a class=unsupported ") == 1);
  CHECK(junit.find("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"2\"") != junit.npos);
  CHECK(count(junit, "<skipped") == 2);  // unsupported, and vacuous only
  CHECK(count(csv, "\n") == 4);
  CHECK(csv.find("\"sin\",\"bf16\",no,UNSUPPORTED,1") != csv.npos);
  CHECK(to_markdown(report).find("| FAIL | add | f32 |") != std::string::npos);
}

TEST_CASE("a damaged report.json is an error or a report, never a crash") {
  const std::string whole = to_json(sample());
  Choices choices(9);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = whole;
    const auto edits = choices.between(1, 3);
    for (int64_t k = 0; k < edits; ++k) {
      const size_t at = choices.below(text.size());
      if (choices.chance(50))
        text[at] = static_cast<char>(choices.below(256));
      else
        text.erase(at, choices.below(12) + 1);
    }
    try {
      to_html(parse_report(text));
    } catch (const Error& error) {
      ++refused;
      CHECK(error.kind() == ErrorKind::kInvalid);
    }
  }
  CHECK(refused > 5000);
  CHECK_THROWS_AS(parse_report("{}"), Error);
  CHECK_THROWS_AS(parse_report("[1, 2"), Error);
}

TEST_CASE("expectations are strict both ways") {
  Expectations lines("# comment\nunsupported * f64 no doubles\nxfail sin f32 too far off\n",
                     "x.txt");
  Finished sin = finished("sin", "f32", Status::kFail);
  lines.apply(sin);
  CHECK(sin.outcome.status == Status::kXfail);
  Finished doubles = finished("add", "f64", Status::kUnsupported);
  lines.apply(doubles);
  CHECK(doubles.outcome.status == Status::kUnsupported);
  Finished works = finished("add", "f64", Status::kPass);
  lines.apply(works);
  CHECK(works.outcome.status == Status::kXpass);
  Finished unlisted = finished("add", "f16", Status::kUnsupported);
  lines.apply(unlisted);
  CHECK(unlisted.outcome.status == Status::kFail);
  Finished other = finished("add", "f32", Status::kFail);
  lines.apply(other);
  CHECK(other.outcome.status == Status::kFail);
  CHECK(lines.stale().empty());

  Expectations repaired("xfail sin f32 too far off\n", "x.txt");
  Finished passes = finished("sin", "f32", Status::kPass);
  repaired.apply(passes);
  CHECK(passes.outcome.status == Status::kPass);
  CHECK(repaired.stale().size() == 1);

  Expectations none;
  Finished any = finished("add", "f16", Status::kUnsupported);
  none.apply(any);
  CHECK(any.outcome.status == Status::kUnsupported);
  for (const char* bad : {"xfail sin f32\n", "skip sin f32 reason\n", "xfail\n"})
    CHECK_THROWS_AS(Expectations(bad, "x.txt"), Error);
}
