// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 64-bit integers on devices that have none: in memory and in registers two words each.
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "core/support/error.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

void without_wide(Capabilities& c) {
  for (const DType dtype : {DType::kI64, DType::kU64}) c.dtypes[static_cast<size_t>(dtype)] = {};
}

/// Every dtype but 64-bit integers, short vectors, every optional op.
Capabilities no_wide() {
  Capabilities c = warps_like();
  without_wide(c);
  return c;
}

/// Words alone and, besides, no op that the core could do without.
Capabilities bare_words() {
  Capabilities c = gpu_like();
  without_wide(c);
  c.index_bits = 32;
  c.storage_bytes = 4;
  c.dtypes[static_cast<size_t>(DType::kF64)] = {};
  const auto code = static_cast<uint32_t>(Op::ATOMIC);
  c.native_ops[code >> 6] |= uint64_t{1} << (code & 63);
  return c;
}

bool same(const Scalar& a, const Scalar& b) {
  return a == b || (is_float(a.dtype) && std::isnan(a.as_double()) && std::isnan(b.as_double()));
}

/// Empty if the lowered program, which holds no 64-bit integer, gives the reference's bits.
std::string difference_in_pairs(const std::string& text, const std::vector<Array>& inputs,
                                const Capabilities& caps, const std::vector<int>& alias = {},
                                const std::string& transforms = "") {
  Builder builder;
  const Graph graph = parse_graph(text, builder);
  const Graph legal = Compiler(builder).legalise(graph, caps);
  const LoweredKernel kernel = lower(legal, caps, transforms, true, alias);
  const sdk::ProgramView program = kernel.program.view();
  for (uint32_t i = 0; i < program.op_count(); ++i)
    if (is_wide(static_cast<DType>(program.op(i).dtype))) return "a 64-bit integer is left";
  const std::vector<Array> expected = evaluate(graph, inputs, {});
  const std::vector<Array> got = run(kernel, legal, alias, inputs, {});
  for (size_t o = 0; o < expected.size(); ++o)
    for (int64_t i = 0; i < expected[o].count(); ++i)
      if (!same(expected[o].at(i), got[o].at(i)))
        return fmt::format("output {} element {}: expected {}, got {}", o, i,
                           to_string(expected[o].at(i)), to_string(got[o].at(i)));
  return {};
}

Array split_array(DType dtype, const std::vector<uint64_t>& bits) {
  Array array = Array::zeros(dtype, {static_cast<int64_t>(bits.size())});
  for (size_t i = 0; i < bits.size(); ++i)
    array.set(static_cast<int64_t>(i), Scalar{dtype, bits[i]});
  return array;
}

/// Of both signs, beside these powers of two.
std::vector<uint64_t> beside(std::initializer_list<int> powers) {
  std::vector<uint64_t> out;
  for (const int power : powers)
    for (const int64_t step : {-1, 0, 1}) {
      const uint64_t value = (uint64_t{1} << power) + static_cast<uint64_t>(step);
      out.insert(out.end(), {value, uint64_t{0} - value});
    }
  return out;
}

std::vector<uint64_t> numbers() {
  std::vector<uint64_t> out = beside({0, 1, 16, 24, 31, 32, 33, 53, 62, 63});
  std::mt19937_64 random(7);
  for (int i = 0; i < 100; ++i) out.push_back(random() >> (random() % 64));
  return out;
}

/// Every number with every other.
std::pair<std::vector<uint64_t>, std::vector<uint64_t>> pairs(const std::vector<uint64_t>& from) {
  std::pair<std::vector<uint64_t>, std::vector<uint64_t>> out;
  for (const uint64_t x : from)
    for (const uint64_t y : from) out.first.push_back(x), out.second.push_back(y);
  return out;
}

}  // namespace

TEST_CASE("pairs of words: every op of two integers") {
  const auto [x, y] = pairs(beside({0, 31, 32, 63}));
  for (const Capabilities& caps : {no_wide(), bare_words()}) {
    for (const DType dtype : {DType::kI64, DType::kU64}) {
      const std::vector<Array> inputs{split_array(dtype, x), split_array(dtype, y)};
      for (const char* op :
           {"add", "sub", "mul", "idiv", "mod", "max", "min", "and", "or", "xor"}) {
        INFO(op << " " << dtype_name(dtype));
        CHECK(difference_in_pairs(
                  fmt::format("graph g(%x: {0}[{1}], %y: {0}[{1}]) {{\n%z = {2} %x, %y : "
                              "{0}[{1}]\nreturn %z }}",
                              dtype_name(dtype), x.size(), op),
                  inputs, caps) == "");
      }
      for (const char* op : {"cmplt", "cmpne", "cmpeq"}) {
        INFO(op << " " << dtype_name(dtype));
        CHECK(difference_in_pairs(
                  fmt::format("graph g(%x: {0}[{1}], %y: {0}[{1}]) {{\n%c = {2} %x, %y : "
                              "bool[{1}]\n%z = where %c, %y, %x : {0}[{1}]\nreturn %z, %c }}",
                              dtype_name(dtype), x.size(), op),
                  inputs, caps) == "");
      }
    }
  }
}

TEST_CASE("pairs of words: shifts by every number, and beyond") {
  std::vector<uint64_t> x, by;
  for (const uint64_t value : numbers())
    for (const int64_t n : {-1, 0, 1, 31, 32, 33, 63, 64, 65})
      x.push_back(value), by.push_back(static_cast<uint64_t>(n));
  by.back() = uint64_t{1} << 32;
  for (const Capabilities& caps : {no_wide(), bare_words()})
    for (const DType dtype : {DType::kI64, DType::kU64})
      for (const char* op : {"shl", "shr"}) {
        INFO(op << " " << dtype_name(dtype));
        CHECK(difference_in_pairs(
                  fmt::format("graph g(%x: {0}[{1}], %n: {0}[{1}]) {{\n%z = {2} %x, %n : "
                              "{0}[{1}]\nreturn %z }}",
                              dtype_name(dtype), x.size(), op),
                  {split_array(dtype, x), split_array(dtype, by)}, caps) == "");
      }
}

TEST_CASE("pairs of words: casts to and from every dtype round once, wrap and saturate") {
  std::vector<uint64_t> integers = numbers();
  // Ties of the narrow floats and what is next to them, moved over all 64 bits.
  for (const uint64_t tie : {0x101u, 0x103u, 0x801u, 0x803u, 0x1000001u, 0x1000003u})
    for (int n = 0; std::bit_width(tie) + static_cast<uint64_t>(n) < 64; ++n)
      for (const int64_t step : {-1, 0, 1})
        integers.push_back((tie << n) + static_cast<uint64_t>(step));
  std::vector<uint64_t> singles, doubles;
  for (const double value :
       {0.0, -0.0, 0.5, -0.5, 1.99, -1.99, 4294967295.0, 4294967296.0, 1e15, -1e15, 9.2e18,
        9.223372036854775807e18, -9.223372036854775807e18, 1.8e19, 1.9e19, 1e30, -1e30,
        std::nan(""), std::numeric_limits<double>::infinity()}) {
    singles.push_back(Scalar::of(DType::kF32, value).bits);
    doubles.push_back(Scalar::of(DType::kF64, value).bits);
  }
  const auto check = [](DType from, DType to, const std::vector<uint64_t>& bits,
                        const Capabilities& caps) {
    INFO(dtype_name(from) << " to " << dtype_name(to));
    CHECK(difference_in_pairs(
              fmt::format("graph g(%x: {0}[{2}]) {{\n%y = cast %x : {1}[{2}]\nreturn %y }}",
                          dtype_name(from), dtype_name(to), bits.size()),
              {split_array(from, bits)}, caps) == "");
  };
  for (const Capabilities& caps : {no_wide(), bare_words()}) {
    for (const DType wide : {DType::kI64, DType::kU64}) {
      for (const DType other : all_dtypes()) {
        if (!caps.stores(other)) continue;
        check(wide, other, integers, caps);
        if (is_wide(other) || is_float(other)) continue;
        const uint64_t all = (uint64_t{2} << (dtype_bits(other) - 1)) - 1;
        std::vector<uint64_t> narrow;
        for (const uint64_t value : integers)
          narrow.push_back(other == DType::kBool ? value & 1 : value & all);
        check(other, wide, narrow, caps);
      }
      check(DType::kF32, wide, singles, caps);
      if (caps.stores(DType::kF64)) check(DType::kF64, wide, doubles, caps);
    }
  }
}

TEST_CASE("pairs of words: reductions, positions, gathers, scatters and padding") {
  Array x = Array::zeros(DType::kF32, {5, 300});
  for (int64_t i = 0; i < x.count(); ++i)
    x.set(i, Scalar::of(DType::kF32, static_cast<double>(i * 7919 % 1009)));
  const Array large = split_array(DType::kI64, numbers());
  const int64_t count = large.count();
  const Array index = split_array(DType::kI64, {0, 3, 4, 5, ~uint64_t{0}, uint64_t{1} << 32,
                                                (uint64_t{1} << 32) + 1, uint64_t{1} << 63});
  const Array table = split_array(DType::kI64, {7, uint64_t{1} << 40, ~uint64_t{0}, 9, 11});
  for (const Capabilities& caps : {no_wide(), bare_words()}) {
    CHECK(difference_in_pairs(R"(graph argmax(%x: f32[5, 300]) {
             %i = index axis=1 : i64[5, 300]
             %m = reduce.max %x, axes=[1] : f32[5, 1]
             %e = expand %m : f32[5, 300]
             %is = cmpeq %x, %e : bool[5, 300]
             %n = const 300 : i64[5, 300]
             %z = const 0 : i64[5, 300]
             %left = sub %n, %i : i64[5, 300]
             %w = where %is, %left, %z : i64[5, 300]
             %best = reduce.max %w, axes=[1] : i64[5, 1]
             %k = const 300 : i64[5, 1]
             %y = sub %k, %best : i64[5, 1]
             return %y })",
                              {x}, caps) == "");
    for (const char* op : {"add", "mul", "max"})
      CHECK(difference_in_pairs(
                fmt::format("graph g(%x: i64[{0}]) {{\n%y = reduce.{1} %x, axes=[0] : "
                            "i64[1]\nreturn %y }}",
                            count, op),
                {large}, caps) == "");
    CHECK(difference_in_pairs(R"(graph g(%t: i64[5], %i: i64[8]) {
             %y = take %t, %i, axis=0 : i64[8]
             return %y })",
                              {table, index}, caps) == "");
    CHECK(difference_in_pairs(R"(graph g(%t: i64[5], %i: i64[8], %v: i64[8]) {
             %y = store.add %t, %i, %v, axis=0 : i64[5]
             return %y })",
                              {table, index, split_array(DType::kI64, {1, 2, 3, 4, 5, 6, 7, 8})},
                              caps, {0}) == "");
    CHECK(difference_in_pairs(R"(graph g(%t: u64[5]) {
             %p = pad %t, pairs=[(2, 1)], fill=9223372036854775809 : u64[8]
             %f = flip %p, axes=[0] : u64[8]
             return %f })",
                              {split_array(DType::kU64, {1, 2, 3, uint64_t{1} << 63, 5})},
                              caps) == "");
  }
}

TEST_CASE("pairs of words: vectors, subgroups and shared partial results") {
  const Array x = split_array(DType::kI64, numbers());
  const std::string sum =
      fmt::format("graph g(%x: i64[{0}]) {{\n%y = add %x, %x : i64[{0}]\nreturn %y }}", x.count());
  CHECK(difference_in_pairs(sum, {x}, no_wide(), {}, "split a0 4; vectorize a0.i") == "");
  const std::string reversed = fmt::format(
      "graph g(%x: i64[{0}]) {{\n%f = flip %x, axes=[0]\n%y = mul %f, %x : i64[{0}]\nreturn %y }}",
      x.count());
  CHECK(difference_in_pairs(reversed, {x}, no_wide(), {}, "split a0 4; vectorize a0.i") == "");
  const std::string total = fmt::format(
      "graph g(%x: i64[{0}]) {{\n%y = reduce.add %x, axes=[0] : i64[1]\nreturn %y }}", x.count());
  CHECK(difference_in_pairs(total, {x}, no_wide(), {}, "split r0 4; vectorize r0.i") == "");
  Array rows = Array::zeros(DType::kI64, {3, 1000});
  for (int64_t i = 0; i < rows.count(); ++i)
    rows.set(i, Scalar::of_int(DType::kI64, (i * 1234567890123) ^ (i << 50)));
  for (const Capabilities& caps : {no_wide(), bare_words()})
    for (const char* op : {"add", "max"})
      CHECK(difference_in_pairs(fmt::format("graph g(%x: i64[3, 1000]) {{\n%y = reduce.{} %x, "
                                            "axes=[1] : i64[3, 1]\nreturn %y }}",
                                            op),
                                {rows}, caps) == "");
}

TEST_CASE("pairs of words: the bits of an f64 are no pair, and a word's index must fit") {
  Builder builder;
  const auto lowered = [&](const std::string& text) {
    const Capabilities caps = no_wide();
    return lower(Compiler(builder).legalise(parse_graph(text, builder), caps), caps, "", true);
  };
  CHECK_THROWS_MATCHES(
      lowered("graph g(%x: i64[3]) {\n%y = bitcast %x : f64[3]\nreturn %y }"), Error,
      MessageMatches(ContainsSubstring("[cast] expected a device with 64-bit integers")));
  const auto doubled = [](int64_t count, const char* dtype) {
    return fmt::format("graph g(%x: {1}[{0}]) {{\n%y = add %x, %x : {1}[{0}]\nreturn %y }}", count,
                       dtype);
  };
  CHECK_NOTHROW(lowered(doubled(1500000000, "u32")));
  CHECK_THROWS_MATCHES(lowered(doubled(1500000000, "u64")), Error,
                       MessageMatches(ContainsSubstring("of 1500000000 elements")));
  const LoweredKernel symbolic = lowered(
      "graph g(%x: i64[n]) where 1 <= n <= 2000000000 {\n%y = add %x, %x : i64[n]\n"
      "return %y }");
  REQUIRE(!symbolic.index_bounds.empty());
  const auto check_at = [&](int64_t n) {
    for (const IndexBound& bound : symbolic.index_bounds) bound.check({{"n", n}});
  };
  CHECK_NOTHROW(check_at(1000000000));
  CHECK_THROWS_AS(check_at(1500000000), Error);
}
