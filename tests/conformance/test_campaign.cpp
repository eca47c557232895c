// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole runs, in worker processes, on the template backend and on copies with a planted bug: each
// is found, under the right status, and shrunk.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>

#include "conformance/cases/generator.hpp"
#include "conformance/cases/reproducer.hpp"
#include "core/support/error.hpp"
#include "tests/conformance/campaign_on.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::campaign;
using namespace tenon::conformance::report;

namespace {

/// Past the sweep: cells and graphs at random.
constexpr uint64_t kFirst = 200 * kBlock;

CampaignOptions planted(const std::string& bug, uint64_t cases) {
  CampaignOptions options = campaign_on("planted_" + bug, kFirst, cases);
  options.worker.run_seconds = 2;
  options.most_shrunk = 2;
  options.shrink_seconds = 60;  // it ends long before
  return options;
}

uint64_t count(const Report& report, Status status) {
  return report.counts[static_cast<size_t>(status)];
}

const Failure* first(const Report& report, Status status) {
  for (const Failure& failure : report.failures)
    if (failure.status == status && !failure.reproducer.empty()) return &failure;
  return nullptr;
}

size_t nodes_of(const Failure& failure) {
  Builder builder;
  return topological(parse_reproducer(failure.reproducer, builder, "shrunk").test.graph.outputs)
      .size();
}

}  // namespace

TEST_CASE("a good plugin has no failures") {
  const Campaign result = run_campaign(planted("none", 640));
  for (const Failure& failure : result.report.failures)
    UNSCOPED_INFO(failure.name << " " << failure.op << " " << failure.dtype << " " << failure.text
                               << "\n"
                               << failure.reproducer);
  CHECK(result.report.failures.empty());
  CHECK(result.report.cases() == 640);
  // It claims no subgroups, which patterns ask for.
  CHECK(count(result.report, Status::kPass) > 520);
  CHECK(result.report.declaration.starts_with("strict"));
}

TEST_CASE("cases are shared out to several workers with the same outcome") {
  CampaignOptions options = planted("wrong", 384);
  options.most_shrunk = 0;
  const Campaign one = run_campaign(options);
  options.jobs = 3;
  const Campaign three = run_campaign(options);
  CHECK(one.report.counts == three.report.counts);
  REQUIRE(one.report.failures.size() == three.report.failures.size());
  for (size_t i = 0; i < one.report.failures.size(); ++i)
    CHECK(one.report.failures[i].name == three.report.failures[i].name);
}

TEST_CASE("wrong values are found and shrunk to the op") {
  const Campaign result = run_campaign(planted("wrong", 3200));
  REQUIRE(count(result.report, Status::kFail) > 0);
  CHECK(count(result.report, Status::kCrash) == 0);
  const Failure* failure = first(result.report, Status::kFail);
  REQUIRE(failure);
  INFO(failure->reproducer);
  CHECK(failure->kind == "mismatch");
  CHECK(failure->text.find("expected") != std::string::npos);
  // The op itself, or one that the core writes with it.
  CHECK(nodes_of(*failure) <= 3);
}

TEST_CASE("a crash costs its case and is named by its signal") {
  const Campaign result = run_campaign(planted("crash", 1600));
  CHECK(result.report.cases() == 1600);
  REQUIRE(count(result.report, Status::kCrash) > 0);
  uint64_t others = 0;
  for (const Status status : {Status::kPass, Status::kUnsupported, Status::kVacuous})
    others += count(result.report, status);
  CHECK(others + count(result.report, Status::kCrash) == 1600);
  const Failure* failure = first(result.report, Status::kCrash);
  REQUIRE(failure);
  INFO(failure->reproducer);
  CHECK(failure->kind == "SIGSEGV");
  CHECK(nodes_of(*failure) <= 3);
}

TEST_CASE("a hang costs its case and its time") {
  CampaignOptions options = planted("hang", 32);
  options.worker.run_seconds = 0.3;
  options.worker.compile_seconds = 0.5;
  options.most_shrunk = 1;
  options.shrink_seconds = 10;
  const Campaign result = run_campaign(options);
  CHECK(result.report.cases() == 32);
  REQUIRE(count(result.report, Status::kTimeout) > 0);
  const Failure* failure = first(result.report, Status::kTimeout);
  REQUIRE(failure);
  INFO(failure->reproducer);
  CHECK(nodes_of(*failure) <= 4);
}

TEST_CASE("memory bugs are found by guards, poison and inputs") {
  struct Row {
    const char* bug;
    const char* kind;
  };
  for (const Row& row : {Row{"overrun", "guard"}, Row{"underrun", "guard"}, Row{"input", "input"},
                         Row{"poison", "poison"}}) {
    INFO(row.bug);
    CampaignOptions options = planted(row.bug, 64);
    options.most_shrunk = 0;
    const Campaign result = run_campaign(options);
    CHECK(result.report.cases() == 64);
    REQUIRE(count(result.report, Status::kFail) > 0);
    CHECK(std::ranges::any_of(result.report.failures,
                              [&](const Failure& failure) { return failure.kind == row.kind; }));
  }
}

TEST_CASE("saying yes and then failing to compile is a failure") {
  CampaignOptions options = planted("lies", 3200);
  options.most_shrunk = 0;
  const Campaign result = run_campaign(options);
  REQUIRE(count(result.report, Status::kFail) > 0);
  for (const Failure& failure : result.report.failures) {
    INFO(failure.name << " " << failure.text);
    CHECK(failure.text.find("no square roots today") != std::string::npos);
  }
}

TEST_CASE("three lost devices end the run, and what lost them is shrunk") {
  CampaignOptions options = planted("lost", 100000);
  options.most_shrunk = 1;
  const Campaign result = run_campaign(options);
  CHECK(result.lost);
  CHECK(count(result.report, Status::kDeviceLost) == 3);
  CHECK(result.report.cases() < 100000);
  const Failure* failure = first(result.report, Status::kDeviceLost);
  REQUIRE(failure);
  INFO(failure->reproducer);
  CHECK(nodes_of(*failure) <= 3);
  CHECK(failure->elements <= 16);
}

TEST_CASE("a plugin that dies while it loads is an error of the environment") {
  try {
    run_campaign(planted("aborts", 10));
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kEnvironment);
    CHECK(std::string(error.what()).find("SIGABRT") != std::string::npos);
  }
}
