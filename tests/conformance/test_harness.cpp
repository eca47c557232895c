// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the harness says beside the verdict: digests, differences, samples, needs, declarations; and
// whether limits that are claimed can be used.
#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <nlohmann/json.hpp>

#include "conformance/judge/claimed_limits.hpp"
#include "conformance/judge/refusal.hpp"
#include "core/support/error.hpp"
#include "tests/conformance/judged.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::judge;

namespace {

constexpr std::string_view kExp2 = R"(graph exp(%x: f32[40]) {
  %y = exp2 %x : f32[40]
  return %y
})";

constexpr std::string_view kMulAdd = R"(graph fused(%x: f32[40], %y: f32[40], %z: f32[40]) {
  %m = mul %x, %y : f32[40]
  %s = add %m, %z : f32[40]
  return %s
})";

constexpr std::string_view kOr = R"(graph either(%x: i32[6, 5], %y: i32[6, 5]) {
  %o = xor %x, %y : i32[6, 5]
  return %o
})";

Case filled(std::string_view text, Builder& builder, double first, double step) {
  Case test = case_of(text, builder);
  for (Array& input : test.inputs)
    for (int64_t i = 0; i < input.count(); ++i)
      input.set(i, Scalar::of(input.dtype, first + step * static_cast<double>(i)));
  return test;
}

}  // namespace

TEST_CASE("digests tell outputs apart and are the same in every run") {
  Harness harness(interpreter()), other(interpreter());
  const Case test = filled(kExp2, harness.builder(), -2, 0.25);
  const Outcome outcome = judged(harness, test);
  REQUIRE(outcome.status == Status::kPass);
  CHECK(outcome.digest != 0);
  CHECK(judged(harness, test).digest == outcome.digest);
  CHECK(judged(other, test).digest == outcome.digest);
  CHECK(judged(harness, filled(kExp2, harness.builder(), -2, 0.5)).digest != outcome.digest);

  Array zero = Array::zeros(DType::kF32, {2, 3}), turned = Array::zeros(DType::kF32, {3, 2});
  CHECK(digest_of({zero}) != digest_of({turned}));
  CHECK(digest_of({zero}) != digest_of({zero, zero}));
  Array minus = zero;
  minus.set(5, Scalar::of(DType::kF32, -0.0));
  CHECK(digest_of({zero}) != digest_of({minus}));
  CHECK(digest_of({}) != 0);
}

TEST_CASE("a mismatch lists its first wrong elements") {
  Harness harness(planted_copy("wrong"));
  const Outcome outcome = judged(harness, case_of(kOr, harness.builder()));
  CHECK(outcome.kind == "mismatch");
  CHECK(outcome.digest != 0);
  // 1 xor 1 and so on: every element is wrong.
  CHECK(outcome.diff.starts_with("[0, 0]\t0\t1\t1\n[0, 1]\t0\t2\t2\n"));
  CHECK(std::ranges::count(outcome.diff, '\n') == 15);
}

TEST_CASE("errors are sampled over the operand") {
  Harness harness(interpreter("exp2_2_9ulp"));
  Case test = filled(kExp2, harness.builder(), -8, 0.37);
  const Outcome outcome = judged(harness, test);
  INFO(outcome.text);
  REQUIRE(outcome.status == Status::kPass);
  REQUIRE(!outcome.ulps.empty());
  double worst = 0;
  for (const UlpSample& sample : outcome.ulps) {
    CHECK(sample.bucket == ulp_bucket(sample.at));
    CHECK(sample.ulp > 0);
    CHECK(sample.bound >= sample.ulp);
    worst = std::max(worst, sample.ulp);
  }
  CHECK(worst == outcome.worst_ulp);
  CHECK(judged(harness, case_of(kMulAdd, harness.builder())).ulps.empty());
}

TEST_CASE("buckets of operands: eight an octave, mirrored") {
  CHECK(ulp_bucket(0.0) == 0);
  CHECK(ulp_bucket(1.0) - ulp_bucket(0.5) == 8);
  CHECK(ulp_bucket(1.99) - ulp_bucket(1.0) == 7);
  CHECK(ulp_bucket(-3.0) == -ulp_bucket(3.0));
  CHECK(ulp_bucket(std::numeric_limits<double>::denorm_min()) == 9);
  CHECK(ulp_bucket(std::numeric_limits<double>::max()) > ulp_bucket(1e300));
}

TEST_CASE("needs name what the declared profile was used for") {
  struct Row {
    const char* bug;
    std::string_view text;
    double first, step;
    uint32_t needs;
  };
  const Row rows[] = {{"", kExp2, -4, 0.2, 0},
                      {"declared_ftz", kMulAdd, 1, 0.125, 0},
                      {"declared_ftz", kMulAdd, 1e-39, 1e-40, kNeedsFlush},
                      {"relaxed", kMulAdd, 1, 0.125, 0},
                      {"relaxed", kExp2, 1, 0.37, kNeedsRelaxed},
                      {"fma_contraction", kMulAdd, 1, 0.5, 0},
                      {"fma_contraction", kMulAdd, 1.1, 0.0371, kNeedsContract}};
  for (const Row& row : rows) {
    Harness harness(interpreter(row.bug));
    const Outcome outcome =
        judged(harness, filled(row.text, harness.builder(), row.first, row.step));
    INFO(row.bug << " from " << row.first << ": " << outcome.text);
    CHECK(outcome.status == Status::kPass);
    CHECK(outcome.needs == row.needs);
  }
}

TEST_CASE("declared properties are one JSON object") {
  Harness harness(interpreter("declared_ftz"));
  const auto facts = nlohmann::json::parse(harness.properties());
  CHECK(facts.at("backend") == "planted");
  CHECK(facts.at("accuracy") == "strict");
  CHECK(facts.at("numerics") == nlohmann::json({"flush input", "flush output"}));
  CHECK(facts.at("limits").at("max_bindings") == 16);
  CHECK(facts.at("limits").at("max_workgroup").size() == 3);
  const auto has = [&](const char* list, const char* name) {
    return std::ranges::find(facts.at(list), nlohmann::json(name)) != facts.at(list).end();
  };
  CHECK(has("native_ops", "fma"));
  CHECK(!has("native_ops", "exp"));
  CHECK(has("flags", "deterministic"));
  CHECK(harness.deterministic());
  bool has_f32 = false;
  for (const auto& row : facts.at("dtypes"))
    if (row.at("dtype") == "f32")
      has_f32 = row.at("flags") == nlohmann::json({"storage", "arithmetic", "atomics"});
  CHECK(has_f32);
}

TEST_CASE("claimed limits can be used, or it is said") {
  const auto texts = [](const Target& target) {
    Harness harness(target);
    Case test =
        case_of("graph g(%x: i32[4]) {\n  %y = neg %x : i32[4]\n  return %y\n}", harness.builder());
    test.refusal = true;
    std::string out;
    for (uint64_t seed = 1; seed <= 30; ++seed) {
      test.oracle_seed = seed * 4 + 1;
      const Outcome outcome = harness.run(test, nullptr, [](RunPhase) {});
      if (outcome.status == Status::kPass) continue;
      CHECK(outcome.kind == "limit");
      CHECK(outcome.text.ends_with("beside the case's own op, which has no part in it"));
      out += outcome.text + "\n";
    }
    return out;
  };
  CHECK(texts(interpreter()).empty());
  CHECK(texts(interpreter("tiny_limits")).empty());
  CHECK(texts(planted_copy("none")).empty());
  const std::string boasts = texts(planted_copy("boasts"));
  INFO(boasts);
  CHECK(boasts.find("max_bindings 32 is claimed") != boasts.npos);
  CHECK(boasts.find("max_shared_bytes 65536 is claimed") != boasts.npos);
  CHECK(boasts.find("max_grid") == boasts.npos);
}

TEST_CASE("a kernel whose recipe keeps more than a thread may keep does without") {
  Harness harness(interpreter("tiny_limits"));
  Case test = case_of(R"(graph attention(%x1: f32[1, 2, 2], %x2: f32[1, 5, 2], %x3: f32[1, 5, 4]) {
  %0 = reshape %x1          : f32[1, 2, 1, 2]
  %1 = expand %0            : f32[1, 2, 5, 2]
  %2 = reshape %x2          : f32[1, 1, 5, 2]
  %3 = expand %2            : f32[1, 2, 5, 2]
  %4 = mul %1, %3           : f32[1, 2, 5, 2]
  %5 = reduce.add %4, axes=[3] : f32[1, 2, 5, 1]
  %6 = reshape %5           : f32[1, 2, 5]
  %9 = reduce.max %6, axes=[2] : f32[1, 2, 1]
  %10 = expand %9           : f32[1, 2, 5]
  %11 = sub %6, %10         : f32[1, 2, 5]
  %12 = exp2 %11            : f32[1, 2, 5]
  %13 = reduce.add %12, axes=[2] : f32[1, 2, 1]
  %14 = expand %13          : f32[1, 2, 5]
  %15 = fdiv %12, %14       : f32[1, 2, 5]
  %16 = cast %15            : f16[1, 2, 5]
  %17 = cast %16            : f32[1, 2, 5]
  %18 = reshape %17         : f32[1, 2, 5, 1]
  %19 = expand %18          : f32[1, 2, 5, 4]
  %20 = reshape %x3         : f32[1, 1, 5, 4]
  %21 = expand %20          : f32[1, 2, 5, 4]
  %22 = mul %19, %21        : f32[1, 2, 5, 4]
  %23 = reduce.add %22, axes=[2] : f32[1, 2, 1, 4]
  return %23
})",
                      harness.builder());
  const Outcome outcome = judged(harness, test);
  INFO(outcome.text);
  CHECK(outcome.status == Status::kPass);
}

TEST_CASE(
    "what the core refuses for a declared limit is unsupported, what the plugin does is wrong") {
  Capabilities limited, unlimited;
  limited.max_loop_trips = 65536;
  const auto status = [](const char* text, const Capabilities& capabilities) {
    return from_error(Error(ErrorKind::kUnsupported, text), Case{}, capabilities).status;
  };
  constexpr const char* kCore =
      "[lower] expected at most 65536 iterations of all loops of a thread together, the device's "
      "max_loop_trips, got more";
  CHECK(status(kCore, limited) == Status::kUnsupported);
  CHECK(status(kCore, unlimited) == Status::kFail);
  CHECK(status("[compile] x:0: kernel k is refused: max_loop_trips", limited) == Status::kFail);
  CHECK(status("[lower] expected fewer ops", limited) == Status::kFail);
}
