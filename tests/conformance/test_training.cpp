// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small models learn on the reference; devices are told apart by the first step that is wrong.
#include <catch2/catch_test_macros.hpp>

#include "conformance/cases/reproducer.hpp"
#include "conformance/cases/training.hpp"
#include "core/ir/text/text.hpp"
#include "core/support/error.hpp"
#include "tests/conformance/judged.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::judge;

namespace {

Outcome trained(const Target& target, std::string_view name, uint32_t steps) {
  Harness harness(target);
  const Case test = make_training(name, 1, steps, harness.builder());
  return harness.run(test, nullptr, [](RunPhase) {});
}

std::string training_refusal(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  Builder builder;
  try {
    parse_reproducer(text, builder, "file");
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("models learn on the reference") {
  for (const std::string_view name : kTrainingNames) {
    if (name == "counters") continue;
    INFO(name);
    Builder builder;
    Case now = make_training(name, 7, 30, builder);
    double first = 0, last = 0;
    for (uint32_t s = 0; s < now.steps; ++s) {
      std::vector<Array> got = evaluate(now.graph, now.inputs);
      last = got[0].at(0).as_double();
      if (s == 0) first = last;
      std::move(got.begin() + 1, got.end(), now.inputs.begin());
    }
    CHECK(last < 0.8 * first);
  }
  Builder builder;
  CHECK_THROWS_AS(make_training("forest", 1, 1, builder), Error);
}

TEST_CASE("equal seeds make equal models, others others") {
  Builder builder;
  const Case one = make_training("convolution", 3, 5, builder);
  const Case again = make_training("convolution", 3, 5, builder);
  const Case other = make_training("convolution", 4, 5, builder);
  CHECK(one.inputs == again.inputs);
  CHECK(one.inputs != other.inputs);
  CHECK(same_structure(one.graph, other.graph));
}

TEST_CASE("a device that computes as it should passes each step") {
  for (const std::string_view name : kTrainingNames) {
    const Outcome outcome = trained(interpreter(), name, 3);
    INFO(name << ": " << outcome.text);
    CHECK(outcome.status == Status::kPass);
    CHECK(outcome.digest != 0);
    CHECK(outcome.text.ends_with("in 3 steps"));
    CHECK(trained(interpreter(), name, 3).digest == outcome.digest);
  }
}

TEST_CASE("the first step and tensor that are wrong are named") {
  const Outcome at_once = trained(interpreter("broadcast_stride"), "perceptron", 4);
  CHECK(at_once.status == Status::kFail);
  CHECK(at_once.text.starts_with("step 1 of 4: loss []: expected "));
  CHECK(at_once.diff.starts_with("[]\t"));
  CHECK(at_once.diff.find('\n') == std::string::npos);  // of this tensor alone
  const std::filesystem::path build = TENON_BINARY_DIR;
  const Outcome late = trained(
      {"misbehaves_wears_out", build / "test-plugins/conformance/libtenon_misbehaves_wears_out.so"},
      "attention", 40);
  INFO(late.text);
  CHECK(late.status == Status::kFail);
  CHECK(late.text.starts_with("step "));
  CHECK_FALSE(late.text.starts_with("step 1 "));
}

TEST_CASE("counters tell what goes wrong while the host does not look") {
  const Outcome right = trained(interpreter(), "counters", 120);
  INFO(right.text);
  CHECK(right.status == Status::kPass);
  const Outcome stale = trained(interpreter("unseen_48"), "counters", 120);
  CHECK(stale.status == Status::kFail);
  CHECK(stale.kind == "mismatch");
  CHECK(stale.text.starts_with("120 steps without a look of the host between them: "));
  CHECK(trained(interpreter("unseen_48"), "counters", 20).status == Status::kPass);
}

TEST_CASE("a written step reads back the same, and one that does not fit is refused") {
  Builder builder;
  const Case step = make_training("perceptron", 1, 12, builder);
  const std::string text = write_reproducer({step, {}, "cpu"});
  const Reproducer read = parse_reproducer(text, builder, "text");
  CHECK(read.test.steps == 12);
  CHECK(read.test.inputs == step.inputs);
  CHECK(same_structure(read.test.graph, step.graph));
  CHECK(training_refusal(text, "# steps 12", "# steps 0").find("expected 1 to") !=
        std::string::npos);
  CHECK(training_refusal(text, "# steps 12", "# steps many").find("expected one number") !=
        std::string::npos);
  CHECK(training_refusal(text, "# steps 12", "# steps 12\n# steps 9")
            .find("steps once, got 9 after 12") != std::string::npos);
  for (const char* beside : {"# refusal", "# transform_seed 3", "# transforms none"})
    CHECK(training_refusal(text, "# steps 12", std::string("# steps 12\n") + beside)
              .find("without") != std::string::npos);
  Builder other;
  const auto said = [&](const std::string& graph) {
    return training_refusal("# tenon-conformance 1\n# steps 2\n# input x f32 [2] = 1 2\n" + graph,
                            "f32", "f32");
  };
  CHECK(said("graph g(%x: f32[2]) {\n  %y = add %x, %x\n  return %y\n}\n")
            .find("a step's loss as f32[], got f32[2]") != std::string::npos);
  CHECK(said("graph g(%x: f32[2]) {\n  %s = reduce.add %x, axes=[0]\n  %l = reshape %s : f32[]\n"
             "  return %l, %s\n}\n")
            .find("output 1 of a step as f32[2], its next input, got f32[1]") != std::string::npos);
}
