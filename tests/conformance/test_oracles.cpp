// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each of the drawn oracles finds what nothing else of the harness sees, and is silent where all is
// well.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <set>

#include "conformance/judge/metamorphic.hpp"
#include "core/support/error.hpp"
#include "tests/conformance/judged.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::judge;

namespace {

constexpr std::string_view kAdd = R"(graph add(%x: f32[6, 8], %y: f32[6, 8]) {
  %s = add %x, %y : f32[6, 8]
  return %s
})";

constexpr std::string_view kSum = R"(graph sum(%x: f32[5, 40]) {
  %s = reduce.add %x, axes=[1] : f32[5, 1]
  return %s
})";

constexpr std::string_view kRow = R"(graph row(%x: f32[6, 8], %y: f32[6, 8], %i: i32[6, 3]) {
  %m = mul %x, %y : f32[6, 8]
  %t = take %m, %i, axis=1 : f32[6, 3]
  %s = reduce.max %t, axes=[1] : f32[6, 1]
  return %s, %m
})";

/// The first failure over many seeds of the drawn oracles; a pass if there is none.
Outcome first_failure(Harness& harness, Case test, int seeds) {
  for (int i = 1; i <= seeds; ++i) {
    // Both halves move: the high one draws the relation.
    test.oracle_seed = static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u;
    test.index = static_cast<uint64_t>(i);
    const Outcome outcome = judged(harness, test);
    if (outcome.status != Status::kPass) return outcome;
  }
  return {};
}

void check_found(const Target& target, std::string_view text, int seeds, const char* kind,
                 const char* words) {
  Harness harness(target);
  Case test = case_of(text, harness.builder());
  const Outcome plain = judged(harness, test);
  INFO(target.backend << " plain: " << plain.kind << " " << plain.text);
  CHECK(plain.status == Status::kPass);
  const Outcome found = first_failure(harness, test, seeds);
  INFO(found.kind << " " << found.text);
  CHECK(found.status == Status::kFail);
  CHECK(found.kind == kind);
  CHECK(found.text.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("the drawn oracles are silent on sound plugins") {
  for (const Target& target : {interpreter(), planted_copy("none")}) {
    Harness harness(target);
    for (const std::string_view text : {kAdd, kSum, kRow}) {
      const Outcome outcome = first_failure(harness, case_of(text, harness.builder()), 150);
      INFO(target.backend << "\n" << text << "\n" << outcome.kind << " " << outcome.text);
      CHECK(outcome.status == Status::kPass);
    }
  }
}

TEST_CASE("two inputs in one buffer: only the aliasing oracle") {
  check_found(planted_copy("same_buffer"), kAdd, 200, "alias", "in one buffer");
}

TEST_CASE("results written over inputs: only where they are donated") {
  Harness harness(planted_copy("in_place"));
  Case test = case_of(kAdd, harness.builder());
  bool found = false;
  for (uint64_t i = 1; i <= 400 && !found; ++i) {
    test.oracle_seed = i * 0x9e3779b97f4a7c15u;
    test.index = i;
    const Outcome outcome = judged(harness, test);
    found = outcome.status == Status::kFail && outcome.kind == "alias";
    if (found) CHECK(outcome.text.starts_with("results written over inputs"));
  }
  CHECK(found);
}

TEST_CASE("an executable that suffers from another one: only the order oracle") {
  Harness harness(planted_copy("switched"));
  bool found = false;
  for (uint64_t i = 1; i <= 200 && !found; ++i) {
    // Another graph each time: none comes back but by the oracle.
    Case test = case_of(fmt::format("graph neg(%x: f32[{0}]) {{\n  %y = neg %x : f32[{0}]\n"
                                    "  return %y\n}}",
                                    i),
                        harness.builder());
    test.oracle_seed = i;  // of the high half 0: no relation in the same breath
    test.index = i;
    const Outcome outcome = judged(harness, test);
    found = outcome.status == Status::kFail;
    INFO(outcome.text);
    if (found) CHECK(outcome.kind == "order");
    if (found) CHECK(outcome.text.starts_with("case 1:"));
  }
  CHECK(found);
}

TEST_CASE("a slab with an old address: found once the pool gives its slabs back") {
  check_found(interpreter("stale_pooled"), kAdd, 300, "poison", "");
}

TEST_CASE("strides, offsets and shapes that the case lacks: metamorphic relations") {
  check_found(interpreter("negative_stride"), kAdd, 300, "metamorphic", "flipped");
}

TEST_CASE("a rounding that depends on the magnitude: scaling") {
  check_found(planted_copy("magnitude"), kSum, 300, "metamorphic", "power of two");
}

TEST_CASE("every relation occurs, keeps the elements and is drawn the same again") {
  Builder builder;
  const Case test = case_of(kRow, builder);
  const Profile profile;
  const Expectation plain = expect(test, profile);
  std::vector<Array> values;
  for (const IntervalArray& output : plain) values.push_back(output.value);
  std::set<std::string> names;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const auto variant = draw_variant(test, seed, profile, builder);
    if (!variant) continue;
    names.insert(variant->relation.substr(variant->relation.find_first_not_of("input 0123456789")));
    const Expectation other = expect(variant->test, profile);
    std::vector<Array> got;
    for (const IntervalArray& output : other) got.push_back(output.value);
    INFO(variant->relation);
    CHECK(first_difference(restored(*variant, values, got), values).empty());
    const auto again = draw_variant(test, seed, profile, builder);
    CHECK(same_structure(again->test.graph, variant->test.graph));
  }
  CHECK(names.size() == 10);
}

TEST_CASE("scaling is offered to homogeneous graphs only") {
  Builder builder;
  const auto offers = [&](std::string_view text) {
    return draw_scaling(case_of(text, builder), 1).has_value();
  };
  CHECK(offers(kAdd));
  CHECK(offers(kSum));
  CHECK(offers(kRow));
  CHECK(!offers("graph g(%x: f32[4]) {\n  %y = exp2 %x : f32[4]\n  return %y\n}"));
  CHECK(
      !offers("graph g(%x: f32[4]) {\n  %o = const 1 : f32[4]\n  %y = add %x, %o : f32[4]\n"
              "  return %y\n}"));
  CHECK(
      offers("graph g(%x: f32[4]) {\n  %o = const 3.5 : f32[4]\n  %y = mul %x, %o : f32[4]\n"
             "  return %y\n}"));
  CHECK(
      !offers("graph g(%x: f32[4]) {\n  %o = const 8.8e-39 : f32[4]\n  %y = mul %x, %o : f32[4]\n"
              "  return %y\n}"));
  CHECK(!offers(
      "graph g(%x: f32[4], %i: i32[4]) {\n  %f = cast %i : f32[4]\n  %e = exp2 %f : f32[4]\n"
      "  %y = mul %x, %e : f32[4]\n  return %y\n}"));
  CHECK(!offers("graph g(%x: f16[4]) {\n  %y = add %x, %x : f16[4]\n  return %y\n}"));
  CHECK(!offers("graph g(%x: i32[4]) {\n  %y = add %x, %x : i32[4]\n  return %y\n}"));
  Case large = case_of(kSum, builder);
  large.inputs[0].set(0, Scalar::of(DType::kF32, 1e30));
  CHECK(!draw_scaling(large, 1));
  const auto scaling = draw_scaling(case_of(kSum, builder), 3);
  REQUIRE(scaling);
  CHECK(scaling->exponents[0] != 0);
  CHECK(scaling->test.inputs[0].at(1).as_double() == std::ldexp(2.0, scaling->exponents[0]));
}
