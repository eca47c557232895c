// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports: JSON round trip, counts, what was never tried, damaged files, expectations.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "conformance/cases/choices.hpp"
#include "conformance/cases/reach.hpp"
#include "conformance/report/expectations.hpp"
#include "conformance/report/report.hpp"
#include "core/support/error.hpp"
#include "tests/conformance/sample_report.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::graphs;
using namespace tenon::conformance::report;

TEST_CASE("report.json reads back the same") {
  const Report report = sample_report();
  const std::string text = to_json(report);
  const Report back = parse_report(text);
  CHECK(to_json(back) == text);
  CHECK(back.counts == report.counts);
  CHECK(back.cases() == 6);
  CHECK(std::isinf(back.cells.at({"add", "f32"}).worst_ulp));
  CHECK(back.cells.at({"add", "f32"}).layouts == report.cells.at({"add", "f32"}).layouts);
  CHECK(back.cells.at({"exp2", "f32"}).ulps.size() == 2);
  CHECK(back.cells.at({"exp2", "f32"}).ulps.at(ulp_bucket(1e-20)).at == 1e-20);
  CHECK(back.failures[0].reproducer == report.failures[0].reproducer);
  CHECK(back.failures[0].diff == report.failures[0].diff);
  CHECK(back.failures[0].same == 4);
  CHECK(back.needs == kNeedsFlush);
  CHECK(back.reached == report.reached);
  CHECK(back.coverage() == 2);
  CHECK(back.digest == report.digest);
  CHECK(back.gaps.dtypes.at(0).with == std::vector<std::string>{"f64", "f16"});
  CHECK(back.first_failure_seconds == 0.5);
  CHECK(report.cases_per_second_per_core() == 1.2);
  for (const char* key : {"\"plugin\"", "\"backend\"", "\"device\"", "\"seed\"", "\"counts\"",
                          "\"DEVICE_LOST\"", "\"cases_per_second_per_core\"", "\"cells\"",
                          "\"failures\"", "\"case\"", "\"status\"", "\"text\"", "\"replay\""})
    CHECK(text.find(key) != text.npos);
}

TEST_CASE("the worst of each bucket is kept, and needs of passing cases only") {
  Report report;
  Finished one = finished("sin", "f32", Status::kPass, 2);
  one.outcome.ulps = {{5, 1, 3.0, 4}, {7, 2, 4.0, 4}};
  report.add(one);
  one.outcome.ulps = {{5, 3, 3.1, 4}, {7, 1, 4.1, 4}};
  one.outcome.status = Status::kFail;
  one.outcome.needs = kNeedsRelaxed;
  report.add(one);
  const auto& ulps = report.cells.at({"sin", "f32"}).ulps;
  CHECK(ulps.at(5).at == 3.1);
  CHECK(ulps.at(7).at == 4.0);
  CHECK(report.needs == 0);
}

TEST_CASE("the status of many cases is the worst failure, else that something passed") {
  Counts counts{};
  CHECK(headline(counts) == Status::kUnsupported);
  const auto with = [&](Status status) {
    counts[static_cast<size_t>(status)] = 1;
    return headline(counts);
  };
  CHECK(with(Status::kVacuous) == Status::kVacuous);
  CHECK(with(Status::kUnsupported) == Status::kVacuous);
  CHECK(with(Status::kPass) == Status::kPass);
  CHECK(with(Status::kXfail) == Status::kXfail);
  CHECK(with(Status::kToolError) == Status::kToolError);
  CHECK(failing(counts) == 0);
  CHECK(tried(counts) == 3);  // neither what was refused nor what was not legal
  CHECK(with(Status::kFlaky) == Status::kFlaky);
  CHECK(with(Status::kCrash) == Status::kCrash);
  CHECK(with(Status::kFail) == Status::kFail);
  CHECK(failing(counts) == 3);
}

TEST_CASE("a finished report says where it was made and what it never tried") {
  Report report = sample_report();
  complete(report);
  CHECK(report.environment.tool.starts_with("tenon-conformance "));
  CHECK(report.environment.command.starts_with("test_"));
  CHECK(report.environment.date.size() == 20);
  CHECK(report.reached.size() == reach_size());
  const auto& never = report.gaps.dtypes;
  const auto add = std::ranges::find(never, "add", &Missing::op);
  REQUIRE(add != never.end());
  CHECK(std::ranges::count(add->with, "f32") == 0);
  CHECK(std::ranges::count(add->with, "f16") == 1);
  CHECK(report.gaps.pairs > report.gaps.pairs_reached);
  CHECK(parse_report(to_json(report)).gaps.vocabulary == report.gaps.vocabulary);
}

TEST_CASE("a damaged report.json is an error or a report, never a crash") {
  const std::string whole = to_json(sample_report());
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

TEST_CASE("a report.json of another hand is refused by the key") {
  const auto whole = nlohmann::ordered_json::parse(to_json(sample_report()));
  const auto with = [&](const char* place, const nlohmann::ordered_json& value) {
    auto changed = whole;
    changed[nlohmann::ordered_json::json_pointer(place)] = value;
    return changed.dump();
  };
  const std::tuple<const char*, nlohmann::ordered_json, const char*> bad[] = {
      {"/format", "another", "[report] format: expected \"tenon-conformance report\", got"},
      {"/version", 2, "version: expected version 1, got 2"},
      {"/seed", -1, "seed: expected a whole number below 2^64, got -1"},
      {"/jobs", 1e308, "jobs: expected a whole number in [1, 2147483647], got 1e+308"},
      {"/notes", "x", "notes: expected an array, got \"x\""},
      {"/notes", {1}, "notes[0]: expected a text, got 1"},
      {"/seconds", -1, "seconds: expected a number of 0 or more, got -1"},
      {"/counts/PASS", 0.5, "counts.PASS: expected a whole number up to 2^53, got 0.5"},
      {"/counts/PASS", uint64_t{1} << 63, "counts.PASS: expected a whole number up to 2^53, got"},
      {"/counts", nlohmann::ordered_json::array(), "counts: expected an object, got []"},
      {"/failures", nlohmann::ordered_json::object(), "failures: expected an array, got {}"},
      {"/failures/0/op", 3, "failures[0].op: expected a text, got 3"},
      {"/failures/0/nodes", 1e308, "failures[0].nodes: expected a whole number in [0, 2147483647]"},
      {"/cells/1/worst_ulp", "huge", "cells[1].worst_ulp: expected a number, inf, -inf or nan"},
      {"/cells/0/layouts/x", -3, "cells[0].layouts.x: expected a whole number up to 2^53, got -3"},
      {"/profile/needed", {"nosuch"}, "profile.needed: expected names of freedoms"},
      {"/coverage/pairs", nullptr, "coverage.pairs: expected a whole number up to 2^53, got null"},
  };
  for (const auto& [place, value, words] : bad) {
    CAPTURE(place);
    CHECK_THROWS_WITH(parse_report(with(place, value)), Catch::Matchers::ContainsSubstring(words));
  }
  auto without = whole;
  without.erase("digest");
  CHECK_THROWS_WITH(parse_report(without.dump()),
                    Catch::Matchers::ContainsSubstring("digest: expected a value, got none"));
}

TEST_CASE("a deeply nested report.json is refused, not recursed into") {
  std::string text = to_json(sample_report());
  const std::string key = "\"properties\": ";
  const size_t at = text.find(key) + key.size();
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
  deep += "1" + std::string(100000, '}');
  text.insert(at, deep + ", \"x\": ");
  CHECK_THROWS_WITH(parse_report(text), Catch::Matchers::ContainsSubstring("[json] byte") &&
                                            Catch::Matchers::ContainsSubstring("at most 64 deep"));
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

TEST_CASE("expectations name their line and the word that names nothing") {
  const std::pair<const char*, const char*> bad[] = {
      {"# one\nxfail sinn f32 too far off\n", "x.txt:2: expected an op"},
      {"xfail sinn f32 too far off\n", "\"sinn\""},
      {"unsupported * f23 no such\n", "x.txt:1: expected a dtype, * or -"},
      {"unsupported * f23 no such\n", "\"f23\""},
      {"unsupported * void no such\n", "\"void\""},
      {"xfail api.each_opp - never\n", "\"api.each_opp\""},
  };
  for (const auto& [text, words] : bad) {
    CAPTURE(text);
    CHECK_THROWS_WITH(Expectations(text, "x.txt"), Catch::Matchers::ContainsSubstring(words));
  }
  for (const char* good :
       {"xfail cast.i8 f32 r", "xfail reduce.max bool r", "unsupported graph * r",
        "xfail api.each_op.f32 - r", "xfail api.program - r", "xfail reshape u8 r",
        "xfail memory.growth - r", "unsupported * * r"})
    CHECK_NOTHROW(Expectations(good, "x.txt"));
}
