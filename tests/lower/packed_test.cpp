// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Narrow dtypes on devices whose memory and registers hold 32-bit words alone.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <random>

#include "core/lower/storage_words.hpp"
#include "core/support/error.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

void claim(Capabilities& c, Op op) {
  const auto code = static_cast<uint32_t>(op);
  c.native_ops[code >> 6] |= uint64_t{1} << (code & 63);
}

/// 32-bit numbers and bool; the rest is stored.
Capabilities words() {
  Capabilities c = gpu_like();
  c.storage_bytes = 4;
  c.index_bits = 32;
  for (const DType dtype : all_dtypes()) {
    DTypeCaps& caps = c.dtypes[static_cast<size_t>(dtype)];
    caps.arithmetic = dtype == DType::kBool || dtype_size(dtype) == 4;
    caps.storage = dtype_size(dtype) <= 4;
    caps.atomics = dtype == DType::kU32;
  }
  claim(c, Op::ATOMIC);
  return c;
}

Capabilities words_with_shifts() {
  Capabilities c = words();
  for (const Op op : {Op::SHL, Op::SHR, Op::SUB}) claim(c, op);
  return c;
}

Capabilities words_with_64_bits() {
  Capabilities c = words();
  for (const DType dtype : {DType::kI64, DType::kU64, DType::kF64})
    c.dtypes[static_cast<size_t>(dtype)] = {.storage = true, .arithmetic = true};
  c.index_bits = 64;
  return c;
}

bool is_nan(const Scalar& s) { return is_float(s.dtype) && std::isnan(s.as_double()); }

/// Empty if the lowered program, which holds no narrow dtype but bool, gives the reference's bits.
std::string difference_in_words(const std::string& text, const std::vector<Array>& inputs,
                                const Capabilities& caps, const std::vector<int>& alias = {}) {
  Builder builder;
  const Graph graph = parse_graph(text, builder);
  const Graph legal = Compiler(builder).legalise(graph, caps);
  const LoweredKernel kernel = lower(legal, caps, "", true, alias);
  const sdk::ProgramView program = kernel.program.view();
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const auto dtype = static_cast<DType>(program.op(i).dtype);
    if (dtype == DType::kVoid || dtype_size(dtype) >= 4) continue;
    if (dtype != DType::kBool || program.op(i).op == TN_OP_PARAM) return "a narrow value is left";
  }
  const std::vector<Array> expected = evaluate(graph, inputs, {});
  const std::vector<Array> got = run(kernel, legal, alias, inputs, {});
  for (size_t o = 0; o < expected.size(); ++o)
    for (int64_t i = 0; i < expected[o].count(); ++i)
      if (const Scalar a = expected[o].at(i), b = got[o].at(i);
          !(a == b) && !(is_nan(a) && is_nan(b)))
        return fmt::format("output {} element {}: expected {}, got {}", o, i, to_string(a),
                           to_string(b));
  return {};
}

Array array_of(DType dtype, const std::vector<uint64_t>& bits) {
  Array array = Array::zeros(dtype, {static_cast<int64_t>(bits.size())});
  for (size_t i = 0; i < bits.size(); ++i)
    array.set(static_cast<int64_t>(i), Scalar{dtype, bits[i]});
  return array;
}

std::string cast_text(DType from, DType to, size_t count) {
  return fmt::format("graph g(%x: {0}[{2}]) {{\n%y = cast %x : {1}[{2}]\nreturn %y }}",
                     dtype_name(from), dtype_name(to), count);
}

std::vector<DType> narrow_floats() {
  std::vector<DType> out;
  for (const DType dtype : all_dtypes())
    if (is_float(dtype) && dtype_size(dtype) < 4) out.push_back(dtype);
  return out;
}

/// Numbers of a wide dtype on, below and above the ties of a narrow float.
std::vector<uint64_t> near_ties(DType wide, DType narrow) {
  std::vector<uint64_t> bits;
  const uint64_t codes = uint64_t{1} << dtype_bits(narrow);
  for (uint64_t code = 0; code<codes; code += codes> 256 ? 37 : 1) {
    const double a = narrow_to_double(code, narrow), b = narrow_to_double(code + 1, narrow);
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    const Scalar tie = Scalar::of(wide, (a + b) / 2);
    for (const int64_t step : {-1, 0, 1})
      bits.push_back(Scalar{wide, tie.bits + static_cast<uint64_t>(step)}.bits &
                     (dtype_size(wide) == 8 ? ~uint64_t{0} : 0xffffffffu));
  }
  return bits;
}

}  // namespace

TEST_CASE("packed: every narrow float is read and written again") {
  for (const Capabilities& caps : {words(), words_with_shifts()}) {
    for (const DType dtype : narrow_floats()) {
      std::vector<uint64_t> bits(size_t{1} << dtype_bits(dtype));
      for (size_t i = 0; i < bits.size(); ++i) bits[i] = i;
      INFO(dtype_name(dtype));
      CHECK(difference_in_words(cast_text(dtype, DType::kF32, bits.size()), {array_of(dtype, bits)},
                                caps) == "");
      for (const DType other : {DType::kF8E5M2, DType::kBF16, DType::kI8, DType::kBool})
        CHECK(difference_in_words(cast_text(dtype, other, bits.size()), {array_of(dtype, bits)},
                                  caps) == "");
    }
  }
}

TEST_CASE("packed: wide numbers round once, to nearest even") {
  const Capabilities caps = words_with_64_bits();
  std::mt19937_64 random(1);
  for (const DType to : narrow_floats()) {
    for (const DType from : {DType::kF32, DType::kF64}) {
      std::vector<uint64_t> bits = near_ties(from, to);
      for (int i = 0; i < 3000; ++i)
        bits.push_back(random() & (from == DType::kF32 ? 0xffffffffu : ~uint64_t{0}));
      for (const double value : {0.0, -0.0, 1e30, -1e30, 1e-30, 448.0, 464.0, 465.0, 65519.9,
                                 65520.0, std::numeric_limits<double>::infinity()})
        bits.push_back(Scalar::of(from, value).bits);
      INFO(dtype_name(from) << " to " << dtype_name(to));
      CHECK(difference_in_words(cast_text(from, to, bits.size()), {array_of(from, bits)}, caps) ==
            "");
    }
    for (const DType from : {DType::kI32, DType::kU32, DType::kI64, DType::kU64}) {
      std::vector<uint64_t> bits;
      const uint64_t all = dtype_size(from) == 8 ? ~uint64_t{0} : 0xffffffffu;
      for (int i = 0; i < 2000; ++i)
        bits.push_back((random() & all) >> (random() % dtype_bits(from)));
      // A tie of bf16 and a little more than it, which f32 does not tell apart.
      for (const uint64_t tie : {uint64_t{0x40800000}, uint64_t{0x41800000}})
        for (const uint64_t more : {0, 1, 2}) bits.push_back(tie + more);
      INFO(dtype_name(from) << " to " << dtype_name(to));
      CHECK(difference_in_words(cast_text(from, to, bits.size()), {array_of(from, bits)}, caps) ==
            "");
    }
  }
}

TEST_CASE("packed: narrow integers wrap, saturate and are told from their bits") {
  const std::vector<uint64_t> numbers = {0,          1,          127,        128,       255,
                                         256,        32767,      32768,      65535,     65536,
                                         0x7fffffff, 0x80000000, 0xffffffff, 0xffffff80};
  const std::vector<double> reals = {0,      -0.5,  1.9, -1.9, 127.5, 128,          -128.9,
                                     -129,   255.9, 256, 1e10, -1e10, std::nan(""), 32767.9,
                                     -32769, 65536};
  std::vector<uint64_t> bits;
  for (const double x : reals) bits.push_back(Scalar::of(DType::kF32, x).bits);
  for (const DType to : {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kBool}) {
    INFO(dtype_name(to));
    for (const DType from : {DType::kI32, DType::kU32})
      CHECK(difference_in_words(cast_text(from, to, numbers.size()), {array_of(from, numbers)},
                                words()) == "");
    CHECK(difference_in_words(cast_text(DType::kF32, to, bits.size()),
                              {array_of(DType::kF32, bits)}, words()) == "");
  }
  std::vector<uint64_t> bytes(256);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = i;
  for (const char* to : {"u8", "i8", "f8e4m3"})
    CHECK(difference_in_words(fmt::format("graph g(%x: i8[256]) {{\n%n = add %x, %x : i8[256]\n"
                                          "%y = bitcast %n : {}[256]\nreturn %y }}",
                                          to),
                              {array_of(DType::kI8, bytes)}, words()) == "");
}

TEST_CASE("packed: threads that share a word lose nothing, and nothing after it changes") {
  for (const Capabilities& caps : {words(), words_with_shifts()}) {
    for (const int64_t count : {1, 2, 3, 5, 7, 250, 1027}) {
      for (const DType dtype : {DType::kU8, DType::kI16, DType::kBF16}) {
        Array array = Array::zeros(dtype, {count});
        for (int64_t i = 0; i < count; ++i) array.set(i, Scalar::of_int(dtype, i * 7 % 100));
        const std::string type = fmt::format("{}[{}]", dtype_name(dtype), count);
        const std::string text =
            fmt::format("graph g(%x: {0}) {{\n%y = add %x, %x : {0}\nreturn %y }}", type);
        INFO(type);
        CHECK(difference_in_words(text, {array}, caps) == "");
        CHECK(difference_in_words(text, {array}, caps, {0}) == "");  // in place
      }
    }
  }
}

TEST_CASE("packed: a scatter of bytes, in order, with sums") {
  const std::string text = R"(graph g(%x: i8[9], %i: i32[6], %v: i8[6]) {
    %y = store.add %x, %i, %v, axis=0 : i8[9]
    return %y })";
  const std::vector<Array> inputs = {array_of(DType::kI8, {1, 2, 3, 4, 5, 6, 7, 8, 120}),
                                     array_of(DType::kI32, {8, 3, 3, 0, 100, 8}),
                                     array_of(DType::kI8, {100, 255, 5, 7, 1, 9})};
  CHECK(difference_in_words(text, inputs, words(), {0}) == "");
}

TEST_CASE("packed: without atomics one thread writes") {
  Capabilities caps = words();
  caps.native_ops = {};
  Array array = Array::zeros(DType::kU8, {1027});
  for (int64_t i = 0; i < array.count(); ++i) array.set(i, Scalar::of_int(DType::kU8, i % 251));
  const std::string text = R"(graph g(%x: u8[1027]) {
    %y = add %x, %x : u8[1027]
    return %y })";
  CHECK(difference_in_words(text, {array}, caps) == "");
  Builder builder;
  const LoweredKernel kernel =
      lower(Compiler(builder).legalise(parse_graph(text, builder), caps), caps, "", true);
  CHECK(kernel.grid[0].is_const(1));
  CHECK(kernel.block[0] == 1);
}

TEST_CASE("packed: shared partials of bools and narrow tiles take a word an element") {
  Array array = Array::zeros(DType::kBool, {3, 1000});
  array.set(1700, one(DType::kBool));
  CHECK(difference_in_words(R"(graph g(%x: bool[3, 1000]) {
    %y = reduce.max %x, axes=[1] : bool[3, 1]
    return %y })",
                            {array}, words()) == "");
}

TEST_CASE("32-bit indices: what fits, what fits for some sizes, what never does") {
  const Capabilities caps = words();
  Builder builder;
  const auto lowered = [&](const std::string& text) {
    return lower(Compiler(builder).legalise(parse_graph(text, builder), caps), caps, "", true);
  };
  const LoweredKernel symbolic = lowered(R"(
    graph g(%x: f32[n, m]) where 1 <= n <= 1000000, 1 <= m <= 1000000 {
      %y = mul %x, %x : f32[n, m]
      return %y })");
  REQUIRE(!symbolic.index_bounds.empty());
  for (const IndexBound& bound : symbolic.index_bounds)
    CHECK_NOTHROW(bound.check({{"n", 1000}, {"m", 1000}}));
  const auto check_large = [&] {
    for (const IndexBound& bound : symbolic.index_bounds)
      bound.check({{"n", 100000}, {"m", 100000}});
  };
  CHECK_THROWS_MATCHES(check_large(), Error, MessageMatches(ContainsSubstring("expected indices")));
  CHECK(lowered("graph g(%x: f32[1000, 1000]) {\n%y = mul %x, %x : f32[1000, 1000]\nreturn %y }")
            .index_bounds.empty());
  CHECK_THROWS_MATCHES(
      lowered("graph g(%x: f32[70000, 70000]) {\n%y = mul %x, %x : f32[70000, 70000]\nreturn %y }"),
      Error, MessageMatches(ContainsSubstring("of 4900000000 elements")));
}
