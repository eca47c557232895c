// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LOOP, CARRY, IF, ELSE, END, and the vector ops.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "sdk/program/scalar.hpp"
#include "sdk/program/view.hpp"
#include "tests/cpu/gemm_program.hpp"
#include "tests/cpu/harness.hpp"

namespace tenon::cpu_test {
namespace {

using Value = sdk::ProgramBuilder::Value;

/// begin, end and step.
using Bounds = std::array<int64_t, 3>;

/// sum of i for i in [begin, end) by step, from launch arguments or from constants.
sdk::Program sum_program(tn_dtype dtype, uint32_t flags, const Bounds* fixed = nullptr) {
  sdk::ProgramBuilder b("sum");
  const Value out = b.buffer("out", dtype, TN_ACCESS_WRITE);
  const auto bound = [&](size_t k, const char* name, int64_t least) {
    return fixed ? b.constant(dtype, static_cast<uint64_t>((*fixed)[k]) &
                                         (dtype == TN_DTYPE_I32 ? 0xffffffff : ~uint64_t{0}))
                 : b.scalar(name, dtype, least, 1000);
  };
  const Value begin = bound(0, "begin", -1000);
  const Value end = bound(1, "end", -1000);
  const Value step = bound(2, "step", 1);
  const std::vector<Value> zero = {b.constant(dtype, 0), b.constant(dtype, 0)};
  const Value loop = b.begin_loop(begin, end, step, zero, flags);
  std::vector<Value> next = {b.op(TN_OP_ADD, dtype, 1, {loop + 1, loop}),
                             b.op(TN_OP_ADD, dtype, 1, {loop + 2, b.constant(dtype, 1)})};
  if (flags & TN_OP_WHILE)
    next.push_back(b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {next[1], b.constant(dtype, 4)}));
  b.end(next);
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, b.constant(dtype, 0), loop + 1});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, b.constant(dtype, 1), loop + 2});
  return b.finish();
}

/// From `rows` rows of `lanes` elements: per column the running maximum and minimum from row 0 on,
/// and a maximum whose every step is written too. A while loop is left after the last row.
sdk::Program extremes_program(tn_dtype dtype, uint16_t lanes, uint32_t flags) {
  sdk::ProgramBuilder b("extremes");
  const auto number = [&](uint64_t v) { return b.constant(TN_DTYPE_I64, v); };
  const Value in = b.buffer("in", dtype, TN_ACCESS_READ);
  const Value out = b.buffer("out", dtype, TN_ACCESS_WRITE);
  const Value steps = b.buffer("steps", dtype, TN_ACCESS_WRITE);
  const Value rows = b.scalar("rows", TN_DTYPE_I64, 1, 1 << 20);
  const Value first = b.op(TN_OP_TAKE, dtype, lanes, {in, number(0)});
  const std::vector<Value> initial(3, first);
  const Value loop = b.begin_loop(number(1), rows, number(1), initial, flags);
  const Value at = b.op(TN_OP_MUL, TN_DTYPE_I64, 1, {loop, number(lanes)}, 0, TN_OP_NO_WRAP);
  const Value x = b.op(TN_OP_TAKE, dtype, lanes, {in, at});
  std::vector<Value> next = {b.op(TN_OP_MAX, dtype, lanes, {loop + 1, x}),
                             b.op(TN_OP_MIN, dtype, lanes, {x, loop + 2}),
                             b.op(TN_OP_MAX, dtype, lanes, {loop + 3, x})};
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {steps, at, next[2]});
  if (flags & TN_OP_WHILE)
    next.push_back(b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1,
                        {b.op(TN_OP_ADD, TN_DTYPE_I64, 1, {loop, number(1)}), rows}));
  b.end(next);
  for (uint32_t c = 0; c < 3; ++c)
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, number(uint64_t{c} * lanes), loop + 1 + c});
  return b.finish();
}

void check_extremes(tn_dtype dtype, uint16_t lanes, uint32_t flags, uint32_t rows) {
  const uint32_t size = sdk::dtype_bytes(dtype);
  const auto values = interesting_values(dtype, 20);
  std::mt19937 random(rows * 64 + lanes);
  Bytes in(size_t{rows} * lanes * size), out(size_t{3} * lanes * size), steps(in.size());
  for (size_t i = 0; i < size_t{rows} * lanes; ++i) {
    // Columns without a NaN too, and some of zeros only.
    const bool is_zero = i % lanes % 4 == 1;
    uint64_t v = values[random() % values.size()];
    const bool is_nan = std::isnan(sdk::to_double(v, dtype));
    if (is_zero || (is_nan && i % lanes % 4 != 2))
      v = (random() % 4 == 0 ? 0 : uint64_t{1}) << (8 * size - 1);
    set_element(in, i, size, v);
  }
  const Bytes source = in;
  shared_device().run(extremes_program(dtype, lanes, flags), {},
                      {{&in}, {&out}, {&steps}, {nullptr, rows}});
  const tn_opcode ops[] = {TN_OP_MAX, TN_OP_MIN, TN_OP_MAX};
  const auto same = [&](uint64_t a, uint64_t b) {
    return a == b || (std::isnan(sdk::to_double(a, dtype)) && std::isnan(sdk::to_double(b, dtype)));
  };
  for (uint32_t c = 0; c < 3; ++c) {
    const sdk::ScalarFunction step = sdk::scalar_function(ops[c], dtype, dtype);
    for (uint32_t l = 0; l < lanes; ++l) {
      uint64_t want = element(source, l, size);
      for (uint32_t r = 1; r < rows; ++r) {
        want = step(want, element(source, r * lanes + l, size), 0);
        if (c == 2) REQUIRE(same(element(steps, r * lanes + l, size), want));
      }
      CAPTURE(dtype, lanes, flags, rows, c, l, want, element(out, c * lanes + l, size));
      REQUIRE(same(element(out, c * lanes + l, size), want));
    }
  }
}

}  // namespace

TEST_CASE("running extremes keep NaN and the signs of zeros") {
  for (tn_dtype dtype : {TN_DTYPE_F32, TN_DTYPE_F64})
    for (uint16_t lanes : {1, 3, 4, 8, 16, 24, 40})
      for (uint32_t flags : {0u, uint32_t{TN_OP_WHILE}, uint32_t{TN_OP_UNROLL}})
        for (uint32_t rows : {1, 2, 7, 40}) check_extremes(dtype, lanes, flags, rows);
}

TEST_CASE("loops with dynamic and constant bounds, bounded and while") {
  for (tn_dtype dtype : {TN_DTYPE_I32, TN_DTYPE_I64}) {
    const uint32_t size = sdk::dtype_bytes(dtype);
    for (uint32_t flags : {0u, uint32_t{TN_OP_WHILE}, uint32_t{TN_OP_UNROLL}}) {
      const sdk::Program program = sum_program(dtype, flags);
      for (int64_t begin : {-7, 0, 5}) {
        for (int64_t end : {-9, 0, 5, 100}) {
          for (int64_t step : {1, 3, 64}) {
            int64_t sum = 0, count = 0;
            for (int64_t i = begin; i < end; i += step) {
              sum += i;
              if (++count >= 4 && (flags & TN_OP_WHILE)) break;
            }
            Bytes out(2 * size);
            const uint64_t mask = size == 4 ? 0xffffffff : ~uint64_t{0};
            const auto bits = [&](int64_t v) { return static_cast<uint64_t>(v) & mask; };
            CAPTURE(size, flags, begin, end, step);
            shared_device().run(
                program, {},
                {{&out}, {nullptr, bits(begin)}, {nullptr, bits(end)}, {nullptr, bits(step)}});
            CHECK(element(out, 0, size) == bits(sum));
            CHECK(element(out, 1, size) == bits(count));
            const Bounds fixed{begin, end, step};
            shared_device().run(sum_program(dtype, flags, &fixed), {}, {{&out}});
            CHECK(element(out, 0, size) == bits(sum));
            CHECK(element(out, 1, size) == bits(count));
          }
        }
      }
    }
  }
}

TEST_CASE("carries that change places when a while loop is left") {
  sdk::ProgramBuilder b("swapped");
  const auto number = [&](uint64_t v) { return b.constant(TN_DTYPE_I32, v); };
  const Value out = b.buffer("out", TN_DTYPE_I32, TN_ACCESS_WRITE);
  const std::vector<Value> initial = {number(10), number(20), number(30)};
  const Value loop = b.begin_loop(number(0), number(9), number(1), initial, TN_OP_WHILE);
  const std::vector<Value> next = {loop + 3, loop + 1, loop + 2, b.constant(TN_DTYPE_BOOL, 0)};
  b.end(next);
  for (uint32_t k = 0; k < 3; ++k)
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, number(k), loop + 1 + k});
  Bytes target(12);
  shared_device().run(b.finish(), {}, {{&target}});
  CHECK(element(target, 0, 4) == 30);
  CHECK(element(target, 1, 4) == 10);
  CHECK(element(target, 2, 4) == 20);
}

TEST_CASE("a loop to the largest index ends") {
  sdk::ProgramBuilder b("edge");
  const Value out = b.buffer("out", TN_DTYPE_I32, TN_ACCESS_WRITE);
  const Value begin = b.constant(TN_DTYPE_I32, 0x7ffffff0);
  const Value end = b.scalar("end", TN_DTYPE_I32, 0, INT32_MAX);
  const std::vector<Value> zero = {b.constant(TN_DTYPE_I32, 0)};
  const Value loop = b.begin_loop(begin, end, b.constant(TN_DTYPE_I32, 1), zero);
  const std::vector<Value> next = {
      b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {loop + 1, b.constant(TN_DTYPE_I32, 1)})};
  b.end(next);
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, b.constant(TN_DTYPE_I32, 0), loop + 1});
  Bytes target(4);
  shared_device().run(b.finish(), {}, {{&target}, {nullptr, 0x7fffffff}});
  CHECK(element(target, 0, 4) == 15);
}

TEST_CASE("if and else inside a loop") {
  sdk::ProgramBuilder b("branches");
  const Value out = b.buffer("out", TN_DTYPE_I32, TN_ACCESS_WRITE);
  const auto number = [&](uint64_t v) { return b.constant(TN_DTYPE_I32, v); };
  const Value loop = b.begin_loop(number(0), number(20), number(1));
  const Value rest = b.op(TN_OP_MOD, TN_DTYPE_I32, 1, {loop, number(3)});
  b.begin_if(b.op(TN_OP_CMPNE, TN_DTYPE_BOOL, 1, {rest, number(0)}));
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, loop, rest});
  b.begin_else();
  b.begin_if(b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {loop, number(10)}));
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, loop, number(77)});
  b.end();
  b.end();
  b.end();
  Bytes target(80);
  shared_device().run(b.finish(), {}, {{&target}});
  for (uint32_t i = 0; i < 20; ++i)
    CHECK(element(target, i, 4) == (i % 3 ? i % 3 : i < 10 ? 77u : 0u));
}

TEST_CASE("vectors are taken apart, put together and combined") {
  for (uint16_t lanes : {2, 3, 7, 16, 24}) {
    sdk::ProgramBuilder b("lanes");
    const Value in = b.buffer("in", TN_DTYPE_F32, TN_ACCESS_READ);
    const Value out = b.buffer("out", TN_DTYPE_F32, TN_ACCESS_WRITE);
    const auto number = [&](uint64_t v) { return b.constant(TN_DTYPE_I64, v); };
    const Value vector = b.op(TN_OP_TAKE, TN_DTYPE_F32, lanes, {in, number(0)});
    std::vector<Value> reversed;
    for (uint16_t i = 0; i < lanes; ++i)
      reversed.push_back(b.op(TN_OP_EXTRACT, TN_DTYPE_F32, 1, {vector}, lanes - 1u - i));
    const Value other = b.op(TN_OP_COMPOSE, TN_DTYPE_F32, lanes, reversed);
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, number(0), other});
    uint32_t at = lanes;
    for (tn_opcode op : {TN_OP_ADD, TN_OP_MUL, TN_OP_MAX}) {
      const Value all = b.op(TN_OP_LANE_REDUCE, TN_DTYPE_F32, 1, {vector}, op);
      b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, number(at++), all});
    }
    std::vector<float> source(lanes), result(lanes + 3u);
    float sum = 0, product = 1, largest = -2;
    for (uint16_t i = 0; i < lanes; ++i) {
      source[i] = i % 3 == 1 ? -2.0f : static_cast<float>(i % 2 + 1);
      sum += source[i];
      product *= source[i];
      largest = std::max(largest, source[i]);
    }
    Bytes from = bytes_of(source), to = bytes_of(result);
    shared_device().run(b.finish(), {}, {{&from}, {&to}});
    result = values_of<float>(to);
    CAPTURE(lanes);
    for (uint16_t i = 0; i < lanes; ++i) CHECK(result[i] == source[lanes - 1u - i]);
    CHECK(result[lanes] == sum);
    CHECK(result[lanes + 1u] == product);
    CHECK(result[lanes + 2u] == largest);
  }
}

TEST_CASE("a tiled product of matrices is exact on small integers") {
  for (bool by_attribute : {false, true}) {
    GemmShape shape{24, 64, 40};
    shape.by_attribute = by_attribute;
    std::vector<float> a(shape.m * shape.k), w(shape.k * shape.n), c(shape.m * shape.n);
    const auto a_at = [](uint32_t i, uint32_t k) {
      return static_cast<float>((i * 3 + k) % 7) - 3;
    };
    const auto b_at = [](uint32_t k, uint32_t j) {
      return static_cast<float>((k + j * 5) % 9) - 4;
    };
    for (uint32_t i = 0; i < shape.m; ++i)
      for (uint32_t k = 0; k < shape.k; ++k) a[(i / 12 * shape.k + k) * 12 + i % 12] = a_at(i, k);
    for (uint32_t j = 0; j < shape.n; ++j)
      for (uint32_t k = 0; k < shape.k; ++k) w[(j / 32 * shape.k + k) * 32 + j % 32] = b_at(k, j);
    Bytes a_bytes = bytes_of(a), b_bytes = bytes_of(w), c_bytes = bytes_of(c);
    shared_device().run(gemm_program(shape), {2, 2}, {{&a_bytes}, {&b_bytes}, {&c_bytes}});
    c = values_of<float>(c_bytes);
    for (uint32_t i = 0; i < shape.m; ++i) {
      for (uint32_t j = 0; j < shape.n; ++j) {
        float sum = 0;
        for (uint32_t k = 0; k < shape.k; ++k) sum += a_at(i, k) * b_at(k, j);
        REQUIRE(c[i * shape.n + j] == sum);
      }
    }
  }
}

TEST_CASE("multiply and add are fused only where the op says so") {
  for (uint32_t flags : {0u, uint32_t{TN_OP_CONTRACT}}) {
    sdk::ProgramBuilder b("contract");
    const Value in = b.buffer("in", TN_DTYPE_F32, TN_ACCESS_READ);
    const Value out = b.buffer("out", TN_DTYPE_F32, TN_ACCESS_WRITE);
    const Value zero = b.constant(TN_DTYPE_I64, 0);
    const Value x = b.op(TN_OP_TAKE, TN_DTYPE_F32, 1, {in, zero});
    const Value square = b.op(TN_OP_MUL, TN_DTYPE_F32, 1, {x, x});
    const Value minus = b.op(TN_OP_TAKE, TN_DTYPE_F32, 1, {in, b.constant(TN_DTYPE_I64, 1)});
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
         {out, zero, b.op(TN_OP_ADD, TN_DTYPE_F32, 1, {square, minus}, 0, flags)});
    const float value = 1.0f + 0x1p-12f;
    Bytes source = bytes_of(std::vector<float>{value, -(value * value)}), target(4);
    shared_device().run(b.finish(), {}, {{&source}, {&target}});
    const float rest = values_of<float>(target)[0];
    const bool has_fma =
        shared_device().properties().native_ops[TN_OP_FMA >> 6] >> (TN_OP_FMA & 63) & 1;
    CHECK(rest == (flags && has_fma ? std::fma(value, value, -(value * value)) : 0.0f));
  }
}

}  // namespace tenon::cpu_test
