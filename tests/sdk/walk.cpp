// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs handed to an IR builder do what the scalar oracle and the null backend do, and ask the
// builder for nothing that builder.hpp rules out.
#include "sdk/walk/walk.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <numeric>

#include "tests/sdk/null_device.hpp"
#include "tests/sdk/op_cases.hpp"
#include "tests/sdk/samples.hpp"
#include "tests/sdk/tape.hpp"

using namespace tenon::sdk;

namespace {

void run_on_tape(const Program& program, uint32_t count, std::span<const TestArgument> arguments) {
  Tape tape(program.view());
  walk(program.view(), tape);
  for (uint32_t x = 0; x < count; ++x) tape.run(arguments, {x, 0, 0});
}

void run_on_tape(OpCase c) {
  run_on_tape(c.program, c.count, c.arguments());
  for (const std::string& difference : c.differences(c)) FAIL_CHECK(difference);
}

/// That the tape and the null backend leave the same bytes in `out`, which both begin with.
void agrees_with_interpreter(std::string_view text, const Bytes& out,
                             const std::function<std::vector<TestArgument>(Bytes&)>& arguments) {
  const Program program = parsed(text);
  Bytes ours = out, theirs = out;
  run_on_tape(program, 1, arguments(ours));
  NullDevice().run(program, {1, 1, 1}, arguments(theirs));
  CHECK(ours == theirs);
  CHECK(ours != out);
}

}  // namespace

TEST_CASE("every elementwise op on every dtype by an IR builder") {
  for (const tn_dtype dtype : tested_dtypes()) run_on_tape(elementwise_case(dtype, kWalkOps));
}

TEST_CASE("every cast by an IR builder") {
  for (const tn_dtype from : tested_dtypes()) run_on_tape(cast_case(from));
}

TEST_CASE("vectors, masks, loops and branches by an IR builder agree with the interpreter") {
  std::vector<float> x(64);
  std::iota(x.begin(), x.end(), -5.f);
  Bytes in = bytes_of(x), index = bytes_of(std::vector<int>{63, 1, 20, 3, 9, 1000, -1, 99});
  agrees_with_interpreter(samples::kVectors, Bytes(64, 1), [&](Bytes& out) {
    return std::vector<TestArgument>{{&in}, {&index}, {&out}};
  });
  Bytes wide = bytes_of(std::vector<int64_t>{10});
  agrees_with_interpreter(samples::kControl, Bytes(128, 1), [&](Bytes& out) {
    return std::vector<TestArgument>{{&wide}, {&out}, {{}, 9}};
  });
}

TEST_CASE("loops in branches, carries that change places and narrow scalars by an IR builder") {
  // The carries swap in each iteration; the loop stands in one side of a branch in a loop.
  agrees_with_interpreter(
      R"(program nested(%y: global i16[64] write, %k: i8 in [-100, 100]) workgroup 1 1 1 {
  %own = param scratch i16[4]
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = const 3 : i32
  %6 = const 7 : i32
  %7 = cast %k : i16
  %8 = const -3 : i16
  store %own, %3, %7
  %i = loop %3, %6, %4 : i32 {
    %10 = carry %7 : i16
    %11 = mod %i, %5 : i32
    %12 = cmpne %11, %3 : bool
    if %12 {
      %j = loop %3, %i, %5 : i32 {
        %15 = carry %10 : i16
        %16 = carry %8 : i16
        %17 = mul %15, %16 : i16
        end %16, %17
      }
      %19 = add %15, %16 : i16
      store %y, %i, %19
    } else {
      %22 = load %own, %3, %12, %8 : i16
      store %own, %3, %10
      store %y, %i, %22
    }
    %25 = mul %10, %8 : i16
    end %25
  }
  store %y, %6, %10
}
)",
      Bytes(128, 1), [&](Bytes& out) {
        return std::vector<TestArgument>{{&out}, {{}, 0x9d}};
      });
}

TEST_CASE("narrow integers that wrapped by an IR builder are used as such") {
  Bytes signs = bytes_of(std::vector<int8_t>{100, -100}),
        counts = bytes_of(std::vector<uint16_t>{65000, 3});
  agrees_with_interpreter(
      R"(program wraps(%x: global i8[2] read, %z: global u16[2] read, %y: global i32[6] write) workgroup 1 1 1 {
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = const 2 : i32
  %6 = load %x, %3 : i8
  %7 = load %x, %4 : i8
  %8 = add %6, %6 : i8
  %9 = const 3 : i8
  %10 = idiv %8, %9 : i8
  %11 = cast %10 : i32
  store %y, %3, %11
  %13 = add %7, %7 : i8
  %14 = cmplt %13, %9 : bool
  %15 = cast %14 : i32
  store %y, %4, %15
  %17 = load %z, %3 : u16
  %18 = load %z, %4 : u16
  %19 = mul %17, %18 : u16
  %20 = idiv %19, %18 : u16
  %21 = cast %20 : i32
  store %y, %5, %21
  %23 = add %17, %17 : u16
  %24 = cast %23 : f32
  %25 = cast %24 : i32
  %26 = const 3 : i32
  store %y, %26, %25
  %28 = mul %17, %17 : u16
  %29 = max %28, %18 : u16
  %30 = cast %29 : i32
  %31 = const 4 : i32
  store %y, %31, %30
  %33 = cast.bits %19 : i16
  %34 = cast %33 : i32
  %35 = const 5 : i32
  store %y, %35, %34
}
)",
      Bytes(24, 1), [&](Bytes& out) {
        return std::vector<TestArgument>{{&signs}, {&counts}, {&out}};
      });
}

TEST_CASE("loops with steps by an IR builder end without overflow") {
  agrees_with_interpreter(samples::kStepsToTheEnd, Bytes(8),
                          [](Bytes& out) { return std::vector<TestArgument>{{&out}}; });
}

TEST_CASE("the walk refuses what threads do together") {
  const Program atomic = parsed(samples::kAtomic), shared = parsed(samples::kShared);
  Tape counts(atomic.view()), reverses(shared.view());
  CHECK_THROWS_WITH(walk(atomic.view(), counts), "walk: has no form of atomic");
  CHECK_THROWS_WITH(walk(shared.view(), reverses), "walk: has no form of barrier");
}
