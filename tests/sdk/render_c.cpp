// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs printed as C do what the scalar oracle and the null backend do.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <numeric>

#include "sdk/render/c_dialect.hpp"
#include "sdk/render/c_printer.hpp"
#include "tests/sdk/c_kernel.hpp"
#include "tests/sdk/null_device.hpp"
#include "tests/sdk/op_cases.hpp"
#include "tests/sdk/samples.hpp"

using namespace tenon::sdk;

namespace {

void run_as_c(OpCase c) {
  CKernel(c.program).run({c.count, 1, 1}, c.arguments());
  for (const std::string& difference : c.differences(c)) FAIL_CHECK(difference);
}

}  // namespace

TEST_CASE("every elementwise op on every dtype as C") {
  for (const tn_dtype dtype : tested_dtypes())
    run_as_c(elementwise_case(dtype, c_dialect().data().ops));
}

TEST_CASE("every cast as C") {
  for (const tn_dtype from : tested_dtypes()) run_as_c(cast_case(from));
}

TEST_CASE("vectors, loops and branches as C agree with the interpreter") {
  NullDevice host;
  std::vector<float> x(64);
  std::iota(x.begin(), x.end(), -5.f);
  Bytes in = bytes_of(x), index = bytes_of(std::vector<int>{63, 1, 20, 3, 9, 1000, -1, 99});
  for (int which = 0; which < 2; ++which) {
    Bytes ours(16 * 8, 1), theirs = ours;
    Bytes wide = bytes_of(std::vector<int64_t>{10});
    const Program program = parsed(which ? samples::kControl : samples::kVectors);
    const auto arguments = [&](Bytes& out) {
      return which ? std::vector<TestArgument>{{&wide}, {&out}, {{}, 9}}
                   : std::vector<TestArgument>{{&in}, {&index}, {&out}};
    };
    CKernel(program).run({1, 1, 1}, arguments(ours));
    host.run(program, {1, 1, 1}, arguments(theirs));
    CHECK(ours == theirs);
  }
}

TEST_CASE("loops with steps end without overflow") {
  const Program program = parsed(samples::kStepsToTheEnd);
  Bytes ours(8), theirs(8);
  CKernel(program).run({1, 1, 1}, std::vector<TestArgument>{{&ours}});
  NullDevice().run(program, {1, 1, 1}, std::vector<TestArgument>{{&theirs}});
  CHECK(values_of<int>(ours) == std::vector<int>{1, 2});  // two steps
  CHECK(ours == theirs);
}

TEST_CASE("what C has no words for is refused") {
  CHECK_THROWS_WITH(print_source(parsed(samples::kAtomic).view(), c_dialect()),
                    "c: has no atomics");
  CHECK_THROWS_WITH(print_source(parsed(samples::kShared).view(), c_dialect()),
                    "c: threads of a workgroup share no memory");
}
