// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Patterns of programs: legal, taken by a device that claims what they need, and named apart.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "conformance/abi/harness.hpp"
#include "conformance/abi/programs/model_value.hpp"
#include "conformance/abi/programs/stand_ins.hpp"
#include "conformance/cases/abi/patterns/made_program.hpp"
#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/programs.hpp"
#include "conformance/cases/abi/scalars.hpp"
#include "conformance/cases/plan.hpp"
#include "conformance/selftest/plugin/variants.hpp"
#include "sdk/program/builder.hpp"
#include "sdk/program/text.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::abi;

namespace {

Target variant_target(const std::string& variant) {
  return {"planted:0@bug=" + variant, TENON_BINARY_DIR "/lib/tenon-selftest/libtenon_planted.so"};
}

/// Programs that ran, by family, of the patterns of some families or of all.
std::map<std::string_view, int> run_patterns(const std::string& variant,
                                             const std::set<std::string_view>& families = {}) {
  ApiHarness harness(variant_target(variant));
  std::map<std::string_view, int> ran;
  for (size_t number = 0; number < all_patterns().size(); ++number) {
    const Pattern& pattern = all_patterns()[number];
    if (!families.empty() && !families.contains(pattern.family)) continue;
    Choices choices(number);
    Case test;
    test.sequence = Sequence{"", pattern.draw(choices).steps};
    const Outcome outcome = harness.run(test, [] {});
    INFO(variant << ", " << pattern.family << " " << pattern.name << ": " << outcome.text << "\n"
                 << print(*test.sequence));
    const bool is_good = outcome.status == Status::kPass || outcome.status == Status::kUnsupported;
    CHECK(is_good);
    ran[pattern.family] += outcome.status == Status::kPass;
  }
  return ran;
}

}  // namespace

TEST_CASE("every pattern makes legal programs, and a device that is right passes them") {
  std::map<std::string_view, int> ran = run_patterns("matrices");
  for (const auto& [variant, family] :
       {std::pair("tiles", std::string_view("tiles")), {"dots", std::string_view("dot")}})
    ran[family] += run_patterns(variant, {family})[family];
  for (const std::string_view family : kFamilies) {
    INFO(family);
    CHECK(ran[family] >= 24);
  }
}

TEST_CASE("what decides in programs of products is certain on devices that flush or are relaxed") {
  for (const char* variant : {"declared_ftz", "relaxed", "fma_contraction"}) {
    INFO(variant);
    CHECK(run_patterns(variant, {"products"})["products"] >= 60);
  }
}

TEST_CASE("a pattern is a function of its draws, and the sweep comes to all of them") {
  std::set<uint32_t> planned;
  for (uint64_t index = 0; index < 300'000; ++index)
    if (const Plan plan = plan_case(3, index); plan.spec.layer == Layer::kPattern)
      planned.insert(plan.spec.number);
  CHECK(planned.size() == all_patterns().size());
  for (size_t number = 0; number < all_patterns().size(); number += 17) {
    const Pattern& pattern = all_patterns()[number];
    Choices once(5), twice(5);
    CHECK(print({"", pattern.draw(once).steps}) == print({"", pattern.draw(twice).steps}));
  }
}

TEST_CASE("NaN, infinities and subnormals are known where a device keeps them") {
  using namespace tenon::conformance::abi::programs;
  sdk::ProgramBuilder b("one");
  const auto x = b.constant(TN_DTYPE_F32, 0), y = b.constant(TN_DTYPE_F32, 0);
  const auto less = b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {x, y});
  const auto sum = b.op(TN_OP_ADD, TN_DTYPE_F32, 1, {x, y});
  const sdk::Program program = b.finish();
  const auto run = [&](uint32_t op, double left, double right, uint32_t numerics) {
    const ModelValue in[] = {{from_double(left, TN_DTYPE_F32), true},
                             {from_double(right, TN_DTYPE_F32), true}};
    return elementwise(program.view(), program.view().op(op), in, {false, kept_by(numerics)});
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = HUGE_VAL, tiny = 1e-40;
  CHECK(run(less, nan, 1, 0).known);
  CHECK(run(less, nan, 1, 0).bits == 0);
  CHECK_FALSE(run(less, nan, 1, TN_NUMERICS_NO_NAN).known);
  CHECK(run(sum, infinity, 1, 0).known);
  CHECK(run(sum, infinity, -infinity, 0).known);
  CHECK(std::isnan(to_double(run(sum, infinity, -infinity, 0).bits, TN_DTYPE_F32)));
  CHECK_FALSE(run(sum, infinity, 1, TN_NUMERICS_NO_INF).known);
  CHECK(run(sum, tiny, tiny, 0).known);
  CHECK_FALSE(run(sum, tiny, tiny, TN_NUMERICS_FLUSH_OUTPUT).known);
  CHECK_FALSE(run(sum, 1, 1e-9, 0).known);                   // it rounds
  CHECK(agree(TN_DTYPE_F32, 0x7fc00000, 0xffc00001, true));  // any NaN
  CHECK_FALSE(agree(TN_DTYPE_F32, 0x7fc00000, 0x7f800000, true));
}

TEST_CASE("floats that round are known where every device rounds so, and bounded elsewhere") {
  using namespace tenon::conformance::abi::programs;
  sdk::ProgramBuilder b("one");
  const auto x = b.constant(TN_DTYPE_F32, 0), y = b.constant(TN_DTYPE_F32, 0);
  const auto sum = b.op(TN_OP_ADD, TN_DTYPE_F32, 1, {x, y});
  const auto power = b.op(TN_OP_EXP2, TN_DTYPE_F32, 1, {x});
  const auto fast = b.op(TN_OP_EXP2, TN_DTYPE_F32, 1, {x}, 0, TN_OP_APPROXIMATE);
  const auto less = b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {x, y});
  const sdk::Program program = b.finish();
  Profile profile;
  profile.arithmetic[TN_DTYPE_F32] = true;
  const auto run = [&](uint32_t op, std::vector<ModelValue> in) {
    return elementwise(program.view(), program.view().op(op), in, {false, kept_by(0), &profile});
  };
  const auto number = [](double value) {
    return ModelValue{from_double(value, TN_DTYPE_F32), true};
  };
  const auto accepted = [](const ModelValue& value, double got) {
    return accepts(TN_DTYPE_F32, value, from_double(got, TN_DTYPE_F32), true);
  };
  CHECK(run(sum, {number(1), number(1e-9)}).known);
  const double right = std::exp2(0.3f);
  const ModelValue bounded = run(power, {number(0.3f)}), relaxed = run(fast, {number(0.3f)});
  CHECK_FALSE(bounded.known);
  CHECK(accepted(bounded, right));
  CHECK(accepted(bounded, right * (1 + 3e-7)));
  CHECK_FALSE(accepted(bounded, right * (1 + 1e-6)));
  CHECK_FALSE(accepted(bounded, NAN));
  CHECK(accepted(relaxed, right * (1 + 4e-7)));
  // The error goes on through what is computed of it, and decides where it is small enough.
  const ModelValue more = run(sum, {bounded, number(64)});
  CHECK(accepted(more, 64 + right));
  CHECK_FALSE(accepted(more, 64.1 + right));
  CHECK(run(less, {bounded, number(2)}).known);
  CHECK(run(less, {bounded, number(2)}).bits == 1);
  CHECK_FALSE(run(less, {bounded, number(right)}).known);
  profile.numerics = TN_NUMERICS_CONTRACT;
  CHECK_FALSE(run(sum, {number(1), number(1e-9)}).known);
}

TEST_CASE("ops that a device does not claim give way to principal ones") {
  using namespace tenon::conformance::abi::programs;
  std::string error;
  const sdk::Program program = sdk::parse_program(
      "program p(%out: global i32 write) workgroup 1 1 1 {\n  %x = const 5 : i32\n"
      "  %y = sub %x, %x : i32\n  %z = neg %y : i32\n  store %out, %x, %z\n}\n",
      error);
  REQUIRE(error == "");
  const StandIns none = with_stand_ins(program.view(), [](tn_opcode) { return false; });
  CHECK(none.changes == "add for sub, cast for neg");
  const std::string text = sdk::print_program(none.program.view());
  CHECK(text.find("add %") != text.npos);
  CHECK(text.find("neg") == text.npos);
  CHECK(with_stand_ins(program.view(), [](tn_opcode op) { return op == TN_OP_NEG; }).changes ==
        "add for sub");
  CHECK(with_stand_ins(program.view(), [](tn_opcode) { return true; }).program.empty());
}

TEST_CASE("what is written to a tile while it may be read is an error of the tool") {
  ApiHarness harness(variant_target("tiles"));
  tn_matrix_atom atom{};  // number 4 of the plugin
  atom.id = 4;
  atom.m = 8, atom.n = 16, atom.k = 16;
  atom.a_dtype = atom.b_dtype = TN_DTYPE_F16;
  atom.accumulator_dtype = TN_DTYPE_F32;
  atom.scope = TN_SCOPE_BLOCK;
  atom.subgroup = 16;
  atom.a_lanes = atom.b_lanes = 1;
  atom.c_lanes = 8;
  SequenceStep step = tile_family().make(atom, 0, 7);
  Case test;
  test.sequence = Sequence{"", {step}};
  CHECK(harness.run(test, [] {}).status == Status::kPass);
  const size_t barrier = step.text.find("barrier"), end = step.text.find('\n', barrier);
  REQUIRE(barrier != step.text.npos);
  const size_t begin = step.text.rfind('\n', barrier);
  step.text.erase(begin, end - begin);
  test.sequence = Sequence{"", {step}};
  CHECK(harness.run(test, [] {}).status == Status::kToolError);
}

TEST_CASE("bugs of tiles and dot products are found by their patterns") {
  for (const auto& row : planted::kVariants) {
    if (row.kind != "tiles" && row.kind != "dot products") continue;
    ApiHarness harness(variant_target(std::string(row.name)));
    bool found = false;
    for (size_t number = 0; number < all_patterns().size() && !found; ++number) {
      const Pattern& pattern = all_patterns()[number];
      if (pattern.family != "tiles" && pattern.family != "dot") continue;
      Choices choices(number);
      Case test;
      test.sequence = Sequence{"", pattern.draw(choices).steps};
      found = harness.run(test, [] {}).status == Status::kFail;
    }
    INFO(row.name);
    CHECK(found);
  }
}
