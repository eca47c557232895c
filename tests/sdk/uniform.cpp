// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uniform control flow: what the verifier accepts and refuses, and its analysis of bits.
#include <fmt/format.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <random>
#include <string>

#include "sdk/program/text.hpp"
#include "sdk/program/varying_bits.hpp"

using namespace tenon::sdk;

namespace {

/// What is wrong with a body; %r is only read, %w written, %a the target of an atomic.
std::string uniform_error(std::string_view body, std::string_view groups) {
  std::string error;
  parse_program(
      fmt::format("program p(%r: constant i32 read, %w: global i32 read write, "
                  "%a: global i32 read write, %n: i32 in [0, 99], %f: bool) workgroup {} {{\n"
                  "  %s = param shared i32[64]\n  %o = param scratch i32[4]\n"
                  "  %0 = const 0 : i32\n  %1 = const 1 : i32\n  %9 = const 9 : i32\n"
                  "  %32 = const 32 : i32\n  %64 = const 64 : i32\n"
                  "  %x = index block.x : i32\n  %y = index block.y : i32\n"
                  "  %g = index grid.x : i32\n  %t = const true : bool\n{}\n}}\n",
                  groups, body),
      error);
  return error;
}

constexpr std::string_view kThreads = "128 1 1 subgroup 32";
constexpr std::string_view kBlock = "barrier block", kSubgroup = "barrier subgroup";
constexpr std::string_view kShuffle = "%q = subgroup_shuffle %g, %0 : i32";

/// An op that threads must reach together, under `condition` %c.
std::string inside_if(std::string_view condition, std::string_view op) {
  return fmt::format("{}\nif %c {{\n{}\n}}", condition, op);
}
std::string compare(std::string_view value) {
  return fmt::format("{}\n%c = cmplt %v, %9 : bool", value);
}

void accepts(std::string_view body, std::string_view groups = kThreads) {
  INFO(body);
  CHECK(uniform_error(body, groups) == "");
}
void refuses(std::string_view body, std::string_view reason, std::string_view groups = kThreads) {
  INFO(body);
  const std::string error = uniform_error(body, groups);
  INFO(error);
  CHECK(error.find(reason) != std::string::npos);
}
void refuses(std::string_view body) { refuses(body, "all threads of a"); }

/// Equal in the workgroup, in each subgroup, or in neither.
void is_equal_in(std::string_view value, std::string_view scope,
                 std::string_view groups = kThreads) {
  INFO(value);
  const bool is_block = scope == "workgroup", is_subgroup = is_block || scope == "subgroup";
  const std::string condition = compare(value);
  CHECK(uniform_error(inside_if(condition, kBlock), groups).empty() == is_block);
  CHECK(uniform_error(inside_if(condition, kSubgroup), groups).empty() == is_subgroup);
  CHECK(uniform_error(inside_if(condition, kShuffle), groups).empty() == is_subgroup);
}

}  // namespace

TEST_CASE("a barrier is met by all threads of its scope") {
  accepts(kBlock);
  accepts(inside_if("%c = cmplt %g, %9 : bool", kBlock));
  accepts(inside_if("%c = cmplt %n, %9 : bool", kBlock));
  accepts("if %f {\nbarrier block\n} else {\nbarrier block\n}");
  refuses(inside_if("%c = cmplt %x, %9 : bool", kBlock),
          "op 18 barrier: expected to be reached by all threads of a workgroup or none, got the "
          "condition %16 of op 17, which may differ between them");
  refuses(inside_if("%c = cmplt %x, %9 : bool", kShuffle),
          "subgroup_shuffle: expected to be reached by all threads of a subgroup or none, got the "
          "condition %16 of op 17");
  refuses("%c = cmplt %x, %9 : bool\nif %c {\n} else {\nbarrier block\n}", "of op 17");
  refuses("%c = cmplt %x, %9 : bool\nif %f {\nif %c {\nif %f {\nbarrier block\n}\n}\n}",
          "condition %16 of op 18");
  accepts("%c = cmplt %x, %9 : bool\nif %c {\n}\nbarrier block");
  accepts(inside_if("%c = cmplt %x, %9 : bool", kBlock), "1 1 1");
  accepts(inside_if("%c = cmplt %y, %9 : bool", kBlock));  // there is one
  refuses(inside_if("%c = cmplt %x, %9 : bool", kSubgroup), "of a subgroup", "64 1 1");
}

TEST_CASE("indices differ as the launch lays threads out") {
  is_equal_in("%v = index grid.z : i32", "workgroup");
  is_equal_in("%v = index block.x : i32", "");
  is_equal_in("%v = index block.y : i32", "subgroup", "32 4 2 subgroup 32");
  is_equal_in("%v = index block.y : i32", "subgroup", "96 4 1 subgroup 32");
  is_equal_in("%v = index block.y : i32", "", "48 4 1 subgroup 32");
  is_equal_in("%v = index block.y : i32", "", "16 4 2 subgroup 32");
  is_equal_in("%v = index block.z : i32", "subgroup", "16 4 2 subgroup 32");
  is_equal_in("%v = index subgroup : i32", "subgroup");
  is_equal_in("%v = index subgroup_lane : i32", "");
  is_equal_in("%v = index subgroup : i32", "workgroup", "32 1 1 subgroup 32");
  is_equal_in("%v = idiv %x, %32 : i32", "subgroup");
  is_equal_in("%v = idiv %x, %9 : i32", "");
  is_equal_in("%5 = const 5 : i32\n%v = shr %x, %5 : i32", "subgroup");
  is_equal_in("%4 = const 4 : i32\n%v = shr %x, %4 : i32", "");
  is_equal_in("%7 = const 7 : i32\n%v = shr %x, %7 : i32", "workgroup");
  is_equal_in("%31 = const 31 : i32\n%v = and %x, %31 : i32", "");
  is_equal_in("%96 = const 96 : i32\n%v = and %x, %96 : i32", "subgroup");
  is_equal_in(
      "%128 = const 128 : i32\n%m = mul %g, %128 no_wrap : i32\n%a1 = add %m, %x no_wrap : i32\n"
      "%v = idiv %a1, %32 : i32",
      "subgroup");
  is_equal_in(
      "%128 = const 128 : i32\n%m = mul %g, %128 no_wrap : i32\n%a1 = add %m, %x no_wrap : i32\n"
      "%v = idiv %a1, %128 : i32",
      "workgroup");
  // Not below zero, or it would be rounded up.
  is_equal_in("%h = sub %x, %64 : i32\n%v = idiv %h, %32 : i32", "");
  is_equal_in("%96 = const 96 : i32\n%d = mod %x, %96 : i32\n%v = idiv %d, %32 : i32", "subgroup");
}

TEST_CASE("numbers that differ in low bits are on one side of a round one") {
  const auto meets = [](std::string_view condition, std::string_view op) {
    return uniform_error(inside_if(condition, op), kThreads).empty();
  };
  CHECK(meets("%c = cmplt %x, %32 : bool", kSubgroup));
  CHECK(meets("%c = cmplt %x, %64 : bool", kShuffle));
  CHECK_FALSE(meets("%c = cmplt %x, %64 : bool", kBlock));
  CHECK_FALSE(meets("%c = cmplt %x, %9 : bool", kSubgroup));
  CHECK(meets("%63 = const 63 : i32\n%c = cmplt %63, %x : bool", kSubgroup));
  CHECK_FALSE(meets("%c = cmplt %64, %x : bool", kSubgroup));
  CHECK(meets("%128 = const 128 : i32\n%c = cmplt %x, %128 : bool", kBlock));
  CHECK(meets("%m = mul %n, %32 : i32\n%c = cmplt %x, %m : bool", kSubgroup));
  CHECK_FALSE(meets("%c = cmplt %x, %n : bool", kSubgroup));
  CHECK_FALSE(meets("%h = sub %x, %9 : i32\n%c = cmplt %h, %0 : bool", kSubgroup));
}

TEST_CASE("memory is as equal as its index") {
  is_equal_in("%v = load %r, %g : i32", "workgroup");
  is_equal_in("%v = load %r, %x : i32", "");
  is_equal_in("%i = index subgroup : i32\n%v = load %r, %i : i32", "subgroup");
  is_equal_in("store %s, %x, %n\nbarrier block\n%v = load %s, %0 : i32", "workgroup");
  is_equal_in("store %s, %x, %n\nbarrier block\n%v = load %s, %x : i32", "");
  is_equal_in("store %w, %g, %n\n%v = load %w, %g : i32", "workgroup");
  is_equal_in("store %o, %0, %x\n%v = load %o, %0 : i32", "");
  is_equal_in("%b = cmplt %x, %9 : bool\n%v = load %r, %g, %b, %1 : i32", "");
  is_equal_in("%b = cmplt %g, %9 : bool\n%v = load %r, %g, %b, %x : i32", "");
  is_equal_in("%v = atomic.add.block %a, %0, %1 : i32", "");
  is_equal_in("%b = atomic.add.block %a, %0, %1 : i32\n%v = load %a, %0 : i32", "");
}

TEST_CASE("subgroup ops give a subgroup one value") {
  is_equal_in("%v = subgroup_reduce.add %x : i32", "subgroup");
  is_equal_in("%v = subgroup_broadcast %x, 3 : i32", "subgroup");
  is_equal_in("%v = subgroup_shuffle %x, %0 : i32", "subgroup");
  is_equal_in("%v = subgroup_shuffle %x, %x : i32", "");
  is_equal_in("%v = subgroup_shuffle %n, %x : i32", "workgroup");
  is_equal_in("%v = subgroup_reduce.add %g : i32", "workgroup");
  is_equal_in("%v = subgroup_reduce.add %x : i32", "workgroup", "32 1 1 subgroup 32");
}

TEST_CASE("loops are met if all threads run them equally often") {
  const auto loop = [](std::string_view bounds, std::string_view op) {
    return fmt::format("%l = loop {} : i32 {{\n{}\n}}", bounds, op);
  };
  accepts(loop("%0, %n, %1", kBlock));
  accepts(loop("%g, %n, %1", kBlock));
  refuses(
      loop("%0, %x, %1", kBlock),
      "op 17 barrier: expected to be reached by all threads of a workgroup or none, got the bounds "
      "of the loop %16, which may differ between them");
  refuses(loop("%x, %n, %1", kBlock));
  refuses(fmt::format("%z = add %x, %1 : i32\n{}", loop("%0, %n, %z", kBlock)));
  // Each thread has its own numbers, but as many of them.
  accepts(
      fmt::format("%k = const 128 : i32\n%e = const 1024 : i32\n{}", loop("%x, %e, %k", kBlock)));
  refuses(
      fmt::format("%k = const 128 : i32\n%e = const 1000 : i32\n{}", loop("%x, %e, %k", kBlock)));
  accepts(
      fmt::format("%k = const 128 : i32\n%e = const 992 : i32\n{}", loop("%x, %e, %k", kSubgroup)));
  accepts(fmt::format("%i = index subgroup : i32\n{}", loop("%i, %n, %1", kShuffle)));
  refuses(fmt::format("%i = index subgroup : i32\n{}", loop("%i, %n, %1", kBlock)));
  accepts("store %s, %x, %n\nbarrier block\n%e = load %s, %0 : i32\n" + loop("%0, %e, %1", kBlock));
  accepts(loop("%0, %n, %1", inside_if("%c = cmplt %l, %9 : bool", kBlock)));
  refuses(loop("%0, %n, %1", loop("%0, %x, %1", kBlock).replace(0, 2, "%m")));
  refuses(loop("%0, %x, %1", loop("%0, %n, %1", kBlock).replace(0, 2, "%m")));
}

TEST_CASE("a while loop is met as long as its last condition is equal") {
  const auto loop = [](std::string_view last) {
    return fmt::format("%l = loop %0, %n, %1 while : i32 {{\nbarrier block\n{}\nend %c\n}}", last);
  };
  accepts(loop("%c = cmplt %l, %9 : bool"));
  accepts(loop("%v = load %s, %0 : i32\n%c = cmplt %v, %9 : bool"));
  refuses(loop("%c = cmplt %x, %9 : bool"),
          "op 17 barrier: expected to be reached by all threads of a workgroup or none, got the "
          "condition %18 of op 16");
  refuses(loop("%v = load %r, %x : i32\n%c = cmplt %v, %9 : bool"));
}

TEST_CASE("what a loop carries is equal if all that it becomes is") {
  const auto carried = [](std::string_view bounds, std::string_view first, std::string_view next) {
    return fmt::format("%l = loop {} : i32 {{\n%v = carry {} : i32\n{}\nend %u\n}}\n", bounds,
                       first, next);
  };
  const auto meets = [&](const std::string& loop) {
    return uniform_error(loop + inside_if("%c = cmplt %v, %9 : bool", kBlock), kThreads).empty();
  };
  CHECK(meets(carried("%0, %n, %1", "%0", "%u = add %v, %g : i32")));
  CHECK_FALSE(meets(carried("%0, %n, %1", "%x", "%u = add %v, %g : i32")));
  CHECK_FALSE(meets(carried("%0, %n, %1", "%0", "%u = add %v, %x : i32")));
  // Threads that leave in different iterations leave with different values.
  CHECK_FALSE(meets(carried("%0, %x, %1", "%0", "%u = add %v, %1 : i32")));
  // Round a chain of carries, against the order of the ops.
  std::string loop = "%l = loop %0, %n, %1 : i32 {\n%v = carry %0 : i32\n", end = "end";
  for (int k = 0; k < 40; ++k) loop += fmt::format("%v{} = carry %0 : i32\n", k);
  for (int k = 0; k < 40; ++k) end += fmt::format("{} %v{}", k ? "," : "", k);
  const std::string late =
      fmt::format("{}%c = cmplt %v, %9 : bool\nif %c {{\nbarrier block\n}}\n", loop);
  accepts(fmt::format("{}{}, %g\n}}", late, end));
  refuses(fmt::format("{}{}, %x\n}}", late, end));
}

TEST_CASE("a condition that a later value of the loop makes differ") {
  const auto left = [](std::string_view value) {
    return fmt::format(
        "%l = loop %0, %n, %1 while : i32 {{\n%v = carry %0 : i32\n"
        "%go = cmplt %l, {} : bool\nend %1, %go\n}}\n{}",
        value, inside_if("%c = cmplt %v, %9 : bool", kBlock));
  };
  accepts(left("%g"));
  refuses(left("%x"));
  refuses(
      "%l = loop %0, %n, %1 while : i32 {\n%v = carry %t : bool\n"
      "barrier block\n%c = cmplt %x, %9 : bool\nend %c, %v\n}");
  accepts(
      "%l = loop %0, %n, %1 while : i32 {\n%v = carry %t : bool\n"
      "barrier block\n%c = cmplt %g, %9 : bool\nend %c, %v\n}");
}

TEST_CASE("the place of a matrix is equal in the subgroup") {
  const auto load = [](std::string_view index, std::string_view stride) {
    std::string error;
    parse_program(fmt::format("program p(%h: global f16 read) workgroup 64 1 1 subgroup 32 {{\n"
                              "  %8 = const 8 : i32\n  %x = index block.x : i32\n"
                              "  %i = index subgroup : i32\n  %32 = const 32 : i32\n"
                              "  %m = mul %i, %32 : i32\n"
                              "  %1 = matrix_load.1.a %h, {}, {} : f16x8\n}}\n",
                              index, stride),
                  error);
    return error;
  };
  CHECK(load("%m", "%8") == "");
  CHECK(load("%x", "%8")
            .find("op 6 matrix_load: expected an operand 1 that is equal in all "
                  "threads of a subgroup, got %2") != std::string::npos);
  CHECK(load("%m", "%x").find("operand 2 that is equal") != std::string::npos);
}

TEST_CASE("what is known of bits holds of numbers") {
  // Random 8-bit numbers of two threads, consistent with their known bits.
  std::mt19937 random(7);
  const auto byte = [&] { return static_cast<uint8_t>(random()); };
  struct Drawn {
    VaryingBits bits;
    std::array<uint8_t, 2> values;
  };
  const auto draw = [&] {
    Drawn d;
    d.bits.zero = byte() & (random() % 2 ? 0xff : 0xe0);
    d.bits.varies = byte() & byte() & ~d.bits.zero & 0xff;
    d.values[0] = static_cast<uint8_t>(byte() & ~d.bits.zero);
    d.values[1] = static_cast<uint8_t>((d.values[0] & ~d.bits.varies) | (byte() & d.bits.varies));
    d.bits.zero |= ~uint64_t{0xff};
    return d;
  };
  const auto holds = [](VaryingBits known, uint8_t a, uint8_t b) {
    return !((a | b) & known.zero) && !((a ^ b) & ~known.varies) && !(known.zero & known.varies);
  };
  using Values = std::array<uint8_t, 2>;
  const auto each = [](const Values& a, const Values& b, const auto& op) {
    return Values{static_cast<uint8_t>(op(a[0], b[0])), static_cast<uint8_t>(op(a[1], b[1]))};
  };
  for (int n = 0; n < 200000; ++n) {
    const Drawn a = draw(), b = draw();
    const auto by = static_cast<uint8_t>(random() % 3 ? 1 + random() % 127 : 1 << random() % 7);
    const Values same = {by, by};
    const unsigned shift = random() % 9;
    const auto is = [&](VaryingBits known, const Values& got) {
      return holds(known, got[0], got[1]);
    };
    REQUIRE(is(bits_of_add(a.bits, b.bits, 8), each(a.values, b.values, std::plus<int>())));
    REQUIRE(is(bits_of_sub(a.bits, b.bits, 8), each(a.values, b.values, std::minus<int>())));
    REQUIRE(is(bits_of_mul(a.bits, b.bits, 8), each(a.values, b.values, std::multiplies<int>())));
    REQUIRE(is(bits_of_mul(a.bits, bits_of_constant(by), 8),
               each(a.values, same, std::multiplies<int>())));
    REQUIRE(is(bits_of_and(a.bits, b.bits), each(a.values, b.values, std::bit_and<int>())));
    REQUIRE(is(bits_of_or(a.bits, b.bits), each(a.values, b.values, std::bit_xor<int>())));
    const auto as_signed = [](uint8_t v) { return static_cast<int8_t>(v); };
    REQUIRE(is(bits_of_shl(a.bits, shift, 8),
               each(a.values, same, [&](int x, int) { return shift < 8 ? x << shift : 0; })));
    REQUIRE(is(bits_of_shr(a.bits, shift, 8, false),
               each(a.values, same, [&](int x, int) { return shift < 8 ? x >> shift : 0; })));
    REQUIRE(is(bits_of_shr(a.bits, shift, 8, true), each(a.values, same, [&](uint8_t x, int) {
                 return as_signed(x) >> std::min(shift, 7u);
               })));
    REQUIRE(is(bits_of_idiv(a.bits, by, 8, false), each(a.values, same, std::divides<int>())));
    REQUIRE(is(bits_of_mod(a.bits, by, 8, false), each(a.values, same, std::modulus<int>())));
    REQUIRE(is(bits_of_idiv(a.bits, by, 8, true),
               each(a.values, same, [&](uint8_t x, int d) { return as_signed(x) / d; })));
    REQUIRE(is(bits_of_mod(a.bits, by, 8, true),
               each(a.values, same, [&](uint8_t x, int d) { return as_signed(x) % d; })));
    if (!less_varies(a.bits, b.bits, 8, false))
      REQUIRE((a.values[0] < b.values[0]) == (a.values[1] < b.values[1]));
    if (!less_varies(a.bits, b.bits, 8, true))
      REQUIRE((as_signed(a.values[0]) < as_signed(b.values[0])) ==
              (as_signed(a.values[1]) < as_signed(b.values[1])));
    REQUIRE(is(cut(widened(a.bits, 8), 8), a.values));
  }
}
