// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Patterns of programs: legal, taken by a device that claims what they need, and named apart.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "conformance/abi/harness.hpp"
#include "conformance/abi/programs/model_value.hpp"
#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/programs.hpp"
#include "conformance/cases/abi/scalars.hpp"
#include "conformance/cases/plan.hpp"
#include "sdk/program/builder.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::abi;

namespace {

Target with_matrices() {
  return {"planted:0@bug=matrices", TENON_BINARY_DIR "/lib/tenon-selftest/libtenon_planted.so"};
}

}  // namespace

TEST_CASE("every pattern makes legal programs, and a device that is right passes them") {
  ApiHarness harness(with_matrices());
  std::map<std::string_view, int> ran;
  for (size_t number = 0; number < all_patterns().size(); ++number) {
    const Pattern& pattern = all_patterns()[number];
    Choices choices(number);
    Case test;
    test.sequence = Sequence{"", pattern.draw(choices).steps};
    const Outcome outcome = harness.run(test, [] {});
    INFO(pattern.family << " " << pattern.name << ": " << outcome.text << "\n"
                        << print(*test.sequence));
    const bool is_good = outcome.status == Status::kPass || outcome.status == Status::kUnsupported;
    CHECK(is_good);
    ran[pattern.family] += outcome.status == Status::kPass;
  }
  for (const std::string_view family : kFamilies) {
    INFO(family);
    CHECK(ran[family] >= 32);
  }
}

TEST_CASE("a pattern is a function of its draws, and the sweep comes to all of them") {
  std::set<uint32_t> planned;
  for (uint64_t index = 0; index < 20'000; ++index)
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
