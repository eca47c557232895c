// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Failures that no case has alone: with others before it, in other processes, on a device that is
// lost. They are shrunk too, and what is left says everything that a replay needs.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>

#include <filesystem>

#include "conformance/campaign/reduce_failure.hpp"
#include "conformance/campaign/shrink_failure.hpp"
#include "conformance/cases/files.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/shrink/size.hpp"
#include "conformance/worker/run_reproducer.hpp"
#include "core/support/error.hpp"
#include "tests/conformance/campaign_on.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::campaign;
using namespace tenon::conformance::report;
using namespace tenon::conformance::shrink;
using namespace tenon::conformance::worker;

namespace {

/// Of a sequence the step of its program counts too.
bool is_small(const Case& test) {
  const Size size = size_of(test);
  return size.nodes <= (test.sequence ? 4 : 3) && size.elements <= 16;
}

CampaignOptions shrinking_on(const std::string& backend) {
  CampaignOptions options = campaign_on(backend, 0, 0);
  options.shrink_seconds = 120;
  return options;
}

/// Runs the file's text as `replay` does.
Outcome replayed(const CampaignOptions& options, const std::string& text) {
  Builder builder;
  WorkerClient client(options.worker);
  return run_reproducer(client, parse_reproducer(text, builder, "shrunk"));
}

/// What a plugin leaves behind for the next process of this one.
std::string marker_of(const std::string& plugin) {
  return fmt::format("/tmp/tenon-misbehaves-{}-{}", getpid(), plugin);
}

/// The first case of a cell from `begin` on that satisfies the condition.
template <class Condition>
Case first_case(const std::string& op, const std::string& dtype, uint64_t begin, Builder& builder,
                const Condition& condition) {
  Generator generator(7, builder);
  for (uint64_t index = begin; index < begin + 6000 * kBlock; ++index) {
    Case test = generator.make(index);
    if (test.cell.op == op && test.cell.dtype == dtype && !test.refusal && condition(test))
      return test;
  }
  FAIL("expected a case of " << op << " " << dtype);
  return {};
}

Case first_case(const std::string& op, const std::string& dtype, Builder& builder) {
  return first_case(op, dtype, 0, builder, [](const Case&) { return true; });
}

}  // namespace

TEST_CASE("what a case does to an earlier one is shrunk, both of them") {
  const CampaignOptions options = shrinking_on("planted_switched");
  Builder builder;
  Rerun rerun(options.worker, failed("order", ""));
  const auto is_fine = [&](const Case& test) {
    return !is_failure(rerun.fresh({test, {}, ""}).status);
  };
  Reproducer failing{first_case("mul", "i32", 0, builder, is_fine), rerun.wanted(), ""};
  failing.after = {first_case("max", "i32", 0, builder, is_fine)};
  failing.after[0].oracle_seed = 1;
  failing.test.oracle_seed = 0;
  for (Outcome outcome; !rerun.fails_as_wanted(outcome);) {
    REQUIRE(++failing.test.oracle_seed % 400 != 0);
    outcome = rerun.fresh(failing);
    UNSCOPED_INFO(status_name(outcome.status) << outcome.kind << outcome.text);
  }
  const Reproducer small =
      shrink_failure(rerun, failing, false, options.shrink_seconds, builder).reproducer;
  const std::string text = write_reproducer(small);
  INFO(text);
  CHECK(is_small(small.test));
  REQUIRE(small.after.size() == 1);
  CHECK(is_small(small.after[0]));
  CHECK(size_of(small.after[0]) < size_of(failing.after[0]));
  CHECK(same_failure(replayed(options, text), failing.outcome));
  Reproducer alone = small;
  alone.after.clear();
  CHECK_FALSE(is_failure(replayed(options, write_reproducer(alone)).status));
}

TEST_CASE("what shows between two processes only is shrunk with what the second one ran") {
  const CampaignOptions options = shrinking_on("misbehaves_remembers");
  Builder builder;
  const Case before = first_case("xor", "i32", builder);
  Rerun rerun(options.worker, failed(kHistoryKind, ""));
  const auto is_changed = [&](const Case& test) {
    return rerun.fails_as_wanted(rerun.fresh({test, {}, "", {before}, true}));
  };
  Finished found;
  found.outcome = rerun.wanted();
  found.cell = {"sin", "f32", "-"};
  found.index = first_case("sin", "f32", before.index, builder, is_changed).index;
  // In another order, or among those that the process ran before.
  for (const bool is_listed : {true, false}) {
    found.before.clear();
    if (is_listed) found.before = {before.index + 1, before.index};
    found.process_begin = is_listed ? found.index : before.index;
    const Reduced reduced = FailureReducer(options).reduce(found);
    INFO(reduced.failure.text << "\n" << reduced.failure.reproducer);
    CHECK(reduced.failure.status == Status::kFail);
    CHECK(reduced.failure.text.find("after other cases; only after 1 other case") !=
          std::string::npos);
    CHECK(reduced.reproducer.apart);
    CHECK(is_small(reduced.reproducer.test));
    REQUIRE(reduced.reproducer.after.size() == 1);
    CHECK(is_small(reduced.reproducer.after[0]));
    CHECK(same_failure(replayed(options, reduced.failure.reproducer), found.outcome));
    Reproducer alone = reduced.reproducer;
    alone.after.clear();
    CHECK(replayed(options, write_reproducer(alone)).status == Status::kPass);
  }
}

TEST_CASE("what each process answers otherwise is shrunk between two of them") {
  const CampaignOptions options = shrinking_on("misbehaves_has_own_answer");
  Builder builder;
  Rerun rerun(options.worker, failed(kProcessKind, ""));
  Finished found;
  found.outcome = rerun.wanted();
  found.cell = {"sin", "f32", "-"};
  found.index = first_case("sin", "f32", 0, builder, [&](const Case& test) {
                  return rerun.fails_as_wanted(rerun.fresh({test, {}, "", {}, true}));
                }).index;
  const Reduced reduced = FailureReducer(options).reduce(found);
  INFO(reduced.failure.text << "\n" << reduced.failure.reproducer);
  CHECK(reduced.failure.status == Status::kFail);
  CHECK(reduced.reproducer.apart);
  CHECK(reduced.reproducer.after.empty());
  CHECK(is_small(reduced.reproducer.test));
  CHECK(same_failure(replayed(options, reduced.failure.reproducer), found.outcome));
  std::filesystem::remove(marker_of("misbehaves_has_own_answer"));
}

TEST_CASE("a device that does not start any more leaves its failure as it was") {
  CampaignOptions options = campaign_on("misbehaves_reopens_never", 0, 0);
  const std::string marker = marker_of("misbehaves_reopens_never");
  write_file(marker, "");
  Finished finished;
  finished.index = finished.process_begin = 400 * kBlock;
  finished.outcome = {Status::kDeviceLost, "lost", "the bus fell off"};
  const Reduced reduced = FailureReducer(options).reduce(finished);
  std::filesystem::remove(marker);
  CHECK(reduced.gone);
  CHECK(reduced.failure.status == Status::kDeviceLost);
  CHECK(reduced.failure.reproducer.empty());
}

TEST_CASE("a device is lost for a smaller case so many times and not more") {
  CampaignOptions options = campaign_on("planted_lost", 0, 0);
  Rerun rerun(options.worker, {Status::kDeviceLost, "lost", ""});
  Builder builder;
  const NodeRef x = builder.param("x", DType::kF32, {1});
  Reproducer sine;
  sine.test.graph.name = "sine";
  sine.test.graph.params = {x};
  sine.test.graph.outputs = {builder.unary(Op::SIN, x)};
  sine.test.graph.output_names = {""};
  sine.test.inputs = {Array::zeros(DType::kF32, {1})};
  int lost = 0;
  for (; !rerun.exhausted() && lost < 100; ++lost)
    REQUIRE(rerun.fails_as_wanted(rerun.fresh(sine)));
  CHECK(lost == 40);
}

TEST_CASE("a history that takes the process or the device with it is told from the case") {
  Builder builder;
  const auto one_op = [&](Op op, DType dtype) {
    const NodeRef x = builder.param("x", dtype, {1});
    Case test;
    test.cell = {"one", "-", "-"};
    test.graph.name = "one";
    test.graph.params = {x};
    test.graph.outputs = {op == Op::MOD ? builder.binary(op, x, x) : builder.unary(op, x)};
    test.graph.output_names = {""};
    test.inputs = {Array::zeros(dtype, {1})};
    if (op == Op::MOD) test.inputs[0].set(0, Scalar::of(dtype, 3));
    return test;
  };
  Reproducer file{one_op(Op::NEG, DType::kI32), {}, ""};
  file.after = {one_op(Op::MOD, DType::kI32)};
  const Outcome crash = replayed(campaign_on("planted_crash", 0, 0), write_reproducer(file));
  INFO(crash.text);
  CHECK(crash.status == Status::kCrash);
  CHECK(crash.kind == "earlier");
  file.after = {one_op(Op::SIN, DType::kF32)};
  const Outcome lost = replayed(campaign_on("planted_lost", 0, 0), write_reproducer(file));
  INFO(lost.text);
  CHECK(lost.status == Status::kFail);
  CHECK(lost.kind == "earlier");
}
