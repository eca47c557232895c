// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TAKE and STORE: masks, fills, gathers, scatters, streams, and allocations of the kernel.
#include <catch2/catch_test_macros.hpp>
#include <numeric>

#include "sdk/program/view.hpp"
#include "tests/cpu/harness.hpp"

namespace tenon::cpu_test {
namespace {

using Value = sdk::ProgramBuilder::Value;

struct Writer : sdk::ProgramBuilder {
  using ProgramBuilder::ProgramBuilder;
  Value number(uint64_t value, uint16_t lanes = 1) { return constant(TN_DTYPE_I64, value, lanes); }
  Value apply(tn_opcode code, Value x, Value y, uint32_t flags = 0) {
    const auto dtype = static_cast<tn_dtype>(at(x).dtype);
    const bool compares = code == TN_OP_CMPLT || code == TN_OP_CMPNE || code == TN_OP_CMPEQ;
    return op(code, compares ? TN_DTYPE_BOOL : dtype, at(x).lanes, {x, y}, 0, flags);
  }
  void store(Value buffer, Value index, Value value, uint32_t flags = 0) {
    op(TN_OP_STORE, TN_DTYPE_VOID, 0, {buffer, index, value}, 0, flags);
  }
};

constexpr tn_dtype kSizes[] = {TN_DTYPE_BOOL, TN_DTYPE_I8,  TN_DTYPE_U16, TN_DTYPE_F16,
                               TN_DTYPE_F32,  TN_DTYPE_I32, TN_DTYPE_F64, TN_DTYPE_F8E5M2};

Bytes ramp(tn_dtype dtype, size_t count) {
  const uint32_t size = sdk::dtype_bytes(dtype);
  Bytes bytes(count * size);
  for (size_t i = 0; i < count; ++i)
    set_element(bytes, i, size, dtype == TN_DTYPE_BOOL ? i % 3 == 0 : i + 1);
  return bytes;
}

}  // namespace

TEST_CASE("masked tails touch nothing past the end, and loads give the fill") {
  for (tn_dtype dtype : kSizes) {
    for (uint16_t lanes : {1, 4, 16, 24}) {
      for (bool vector_mask : {false, true}) {
        if (lanes == 1 && vector_mask) continue;
        constexpr uint32_t kCount = 61;
        Writer b("tail");
        const Value in = b.buffer("in", dtype, TN_ACCESS_READ);
        const Value out = b.buffer("out", dtype, TN_ACCESS_WRITE);
        const Value all = b.buffer("all", dtype, TN_ACCESS_WRITE);
        const Value first =
            b.apply(TN_OP_MUL, b.index(TN_AXIS_GRID_X, TN_DTYPE_I64), b.number(lanes));
        Value mask;
        if (vector_mask) {
          const Value lane = b.index(TN_AXIS_LANE, TN_DTYPE_I64, lanes);
          const Value base = b.op(TN_OP_BROADCAST, TN_DTYPE_I64, lanes, {first});
          mask = b.apply(TN_OP_CMPLT, b.apply(TN_OP_ADD, base, lane), b.number(kCount, lanes));
        } else {
          const Value last = b.apply(TN_OP_ADD, first, b.number(lanes - 1u));
          mask = b.apply(TN_OP_CMPLT, last, b.number(kCount));
        }
        const uint64_t fill_bits = dtype == TN_DTYPE_BOOL ? 1 : 0x55;
        const Value fill = b.constant(dtype, fill_bits, lanes);
        const Value value = b.op(TN_OP_TAKE, dtype, lanes, {in, first, mask, fill});
        b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, first, value, mask});
        b.store(all, first, value);

        const uint32_t groups = (kCount + lanes - 1) / lanes, size = sdk::dtype_bytes(dtype);
        Bytes source = ramp(dtype, kCount), target(groups * lanes * size, 0xee), filled(target);
        shared_device().run(b.finish(), {groups}, {{&source}, {&target}, {&filled}});
        for (uint32_t i = 0; i < groups * lanes; ++i) {
          const bool active = vector_mask ? i < kCount : (i / lanes + 1) * lanes <= kCount;
          CAPTURE(dtype, lanes, vector_mask, i);
          Bytes untouched(size, 0xee);
          const uint64_t own = active ? element(source, i, size) : 0;
          REQUIRE(element(target, i, size) == (active ? own : element(untouched, 0, size)));
          REQUIRE(element(filled, i, size) == (active ? own : fill_bits));
        }
      }
    }
  }
}

TEST_CASE("gathers and scatters, masked") {
  for (tn_dtype dtype : kSizes) {
    for (tn_dtype index_dtype : {TN_DTYPE_I32, TN_DTYPE_I64}) {
      constexpr uint16_t kLanes = 16;
      Writer b("gather");
      const Value in = b.buffer("in", dtype, TN_ACCESS_READ);
      const Value where = b.buffer("where", index_dtype, TN_ACCESS_READ);
      const Value out = b.buffer("out", dtype, TN_ACCESS_WRITE);
      const Value index = b.op(TN_OP_TAKE, index_dtype, kLanes, {where, b.number(0)});
      const Value limit = b.constant(index_dtype, 40, kLanes);
      const Value mask = b.apply(TN_OP_CMPLT, index, limit);
      const Value value = b.op(TN_OP_TAKE, dtype, kLanes, {in, index, mask});
      b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, index, value, mask});

      const uint32_t size = sdk::dtype_bytes(dtype), index_size = sdk::dtype_bytes(index_dtype);
      Bytes source = ramp(dtype, 40), indices(kLanes * index_size), target(40 * size, 0xee);
      for (uint32_t i = 0; i < kLanes; ++i)
        set_element(indices, i, index_size, i % 5 == 4 ? 1'000'000'000 : i * 7 % 40);
      shared_device().run(b.finish(), {}, {{&source}, {&indices}, {&target}});
      Bytes expected(40 * size, 0xee);
      for (uint32_t i = 0; i < kLanes; ++i) {
        if (i % 5 != 4) set_element(expected, i * 7 % 40, size, element(source, i * 7 % 40, size));
      }
      CAPTURE(dtype, index_dtype);
      CHECK(target == expected);
    }
  }
}

namespace {

/// base + offset + lane * stride, as the core writes it.
Value strided(Writer& b, Value base, int64_t offset, int64_t stride, uint16_t lanes) {
  const auto number = [&](int64_t n) { return b.number(static_cast<uint64_t>(n), lanes); };
  const Value lane = b.index(TN_AXIS_LANE, TN_DTYPE_I64, lanes);
  const Value steps = b.apply(TN_OP_MUL, lane, number(stride), TN_OP_NO_WRAP);
  const Value first = b.op(TN_OP_BROADCAST, TN_DTYPE_I64, lanes, {base});
  const Value index = b.apply(TN_OP_ADD, first, steps, TN_OP_NO_WRAP);
  return b.apply(TN_OP_ADD, index, number(offset), TN_OP_NO_WRAP);
}

}  // namespace

TEST_CASE("gathers of every stride, all lanes and some") {
  for (tn_dtype dtype : kSizes) {
    for (uint16_t lanes : {4, 16, 24}) {
      for (const int64_t stride : {-5, -4, -2, -1, 0, 1, 2, 3, 4, 5, 9}) {
        for (const uint16_t wanted : {int{lanes}, lanes / 2}) {
          const int64_t span = (lanes - 1) * std::abs(stride), begin = stride < 0 ? span : 0;
          Writer b("stride");
          const Value in = b.buffer("in", dtype, TN_ACCESS_READ);
          const Value out = b.buffer("out", dtype, TN_ACCESS_WRITE);
          const Value group = b.index(TN_AXIS_GRID_X, TN_DTYPE_I64);
          const Value index = strided(b, group, begin, stride, lanes);
          std::vector<Value> operands{in, index};
          const uint64_t fill = dtype == TN_DTYPE_BOOL ? 1 : 0x55;
          if (wanted < lanes) {
            const Value lane = b.index(TN_AXIS_LANE, TN_DTYPE_I64, lanes);
            operands.push_back(b.apply(TN_OP_CMPLT, lane, b.number(wanted, lanes)));
            operands.push_back(b.constant(dtype, fill, lanes));
          }
          const Value to = b.apply(TN_OP_MUL, group, b.number(lanes));
          b.store(out, to, b.op(TN_OP_TAKE, dtype, lanes, operands));

          constexpr uint32_t kGroups = 3;
          const uint32_t size = sdk::dtype_bytes(dtype);
          Bytes source = ramp(dtype, static_cast<size_t>(span) + kGroups);
          Bytes target(kGroups * lanes * size);
          shared_device().run(b.finish(), {kGroups}, {{&source}, {&target}});
          for (uint32_t i = 0; i < kGroups * lanes; ++i) {
            const int64_t from = begin + i / lanes + i % lanes * stride;
            CAPTURE(dtype, lanes, stride, wanted, i);
            REQUIRE(element(target, i, size) ==
                    (i % lanes < wanted ? element(source, static_cast<size_t>(from), size) : fill));
          }
        }
      }
    }
  }
}

namespace {

/// So many gathers at elements side by side, in no order, whose lanes lie far apart.
void check_gathers(tn_dtype dtype, uint16_t lanes, uint32_t count, uint32_t step) {
  constexpr int64_t kStride = 37;
  Writer b("transpose");
  const Value in = b.buffer("in", dtype, TN_ACCESS_READ);
  const Value out = b.buffer("out", dtype, TN_ACCESS_WRITE);
  const Value group = b.index(TN_AXIS_GRID_X, TN_DTYPE_I64);
  std::vector<Value> values;
  for (uint32_t i = 0; i < count; ++i)
    values.push_back(
        b.op(TN_OP_TAKE, dtype, lanes, {in, strided(b, group, i * step % count, kStride, lanes)}));
  const Value to = b.apply(TN_OP_MUL, group, b.number(uint64_t{count} * lanes));
  for (uint64_t i = 0; i < values.size(); ++i)
    b.store(out, b.apply(TN_OP_ADD, to, b.number(i * lanes)), values[i]);

  const uint32_t size = sdk::dtype_bytes(dtype), each = count * lanes;
  Bytes source = ramp(dtype, static_cast<size_t>((lanes - 1) * kStride) + count + 1);
  Bytes target(size_t{2} * each * size);
  shared_device().run(b.finish(), {2}, {{&source}, {&target}});
  for (uint32_t i = 0; i < 2 * each; ++i) {
    const uint32_t offset = i % each / lanes * step % count;
    CAPTURE(dtype, lanes, count, i);
    REQUIRE(element(target, i, size) ==
            element(source, i / each + offset + i % lanes * kStride, size));
  }
}

}  // namespace

TEST_CASE("gathers side by side are a transposed matrix, or a part of one") {
  for (tn_dtype dtype : kSizes)
    for (uint16_t lanes : {2, 8, 16})
      for (const uint32_t count : {lanes + 1u, lanes * 1u, lanes / 2 + 1u, lanes / 2u})
        check_gathers(dtype, lanes, count, count % 5 == 0 ? 3 : 5);
}

TEST_CASE("a gather sees what was stored after the gathers beside it") {
  constexpr uint16_t kLanes = 4;
  Writer b("between");
  const Value data = b.buffer("data", TN_DTYPE_I32, TN_ACCESS_READ | TN_ACCESS_WRITE);
  const Value out = b.buffer("out", TN_DTYPE_I32, TN_ACCESS_WRITE);
  const Value zero = b.number(0);
  for (uint64_t i = 0; i < kLanes; ++i) {
    const Value index = strided(b, zero, static_cast<int64_t>(i), 10, kLanes);
    b.store(out, b.number(i * kLanes), b.op(TN_OP_TAKE, TN_DTYPE_I32, kLanes, {data, index}));
    b.store(data, b.number(i + 1), b.constant(TN_DTYPE_I32, 1000 + i));
  }
  std::vector<int32_t> values(34);
  std::iota(values.begin(), values.end(), 0);
  Bytes source = bytes_of(values), target(kLanes * kLanes * 4);
  shared_device().run(b.finish(), {}, {{&source}, {&target}});
  std::vector<int32_t> expected;
  for (int i = 0; i < kLanes; ++i)
    for (int l = 0; l < kLanes; ++l) expected.push_back(l == 0 && i > 0 ? 999 + i : i + 10 * l);
  CHECK(values_of<int32_t>(target) == expected);
}

TEST_CASE("streamed and aligned stores arrive") {
  Writer b("stream");
  const Value in = b.buffer("in", TN_DTYPE_F32, TN_ACCESS_READ, 4096, 64);
  const Value out = b.buffer("out", TN_DTYPE_F32, TN_ACCESS_WRITE, 4096, 64);
  const Value first = b.apply(TN_OP_MUL, b.index(TN_AXIS_GRID_X, TN_DTYPE_I64), b.number(16));
  const Value value =
      b.op(TN_OP_TAKE, TN_DTYPE_F32, 16, {in, first}, 0, TN_OP_STREAM | TN_OP_ALIGNED);
  b.store(out, first, value, TN_OP_STREAM | TN_OP_ALIGNED);
  Bytes source = ramp(TN_DTYPE_F32, 4096), target(source.size());
  shared_device().run(b.finish(), {256}, {{&source}, {&target}});
  CHECK(source == target);
}

TEST_CASE("kernel allocations in each space") {
  for (tn_space space : {TN_SPACE_REGISTER, TN_SPACE_SCRATCH, TN_SPACE_SHARED}) {
    for (uint64_t count : {64, 20000}) {
      // Writes group * count + i, then sums the even half back.
      Writer b("local");
      const Value out = b.buffer("out", TN_DTYPE_I64, TN_ACCESS_WRITE);
      const Value first = b.allocate("first", TN_DTYPE_I32, space, 64);
      const Value local = b.allocate("local", TN_DTYPE_I64, space, count);
      const Value group = b.index(TN_AXIS_GRID_X, TN_DTYPE_I64);
      const Value base = b.apply(TN_OP_MUL, group, b.number(count));
      const Value write = b.begin_loop(b.number(0), b.number(count), b.number(1));
      b.store(local, write, b.apply(TN_OP_ADD, base, write));
      b.end();
      b.store(first, b.number(63), b.constant(TN_DTYPE_I32, 5));
      const std::vector<Value> zero = {b.number(0)};
      const Value read = b.begin_loop(b.number(0), b.number(count), b.number(2), zero);
      const Value loaded = b.op(TN_OP_TAKE, TN_DTYPE_I64, 1, {local, read});
      const std::vector<Value> next = {b.apply(TN_OP_ADD, read + 1, loaded)};
      b.end(next);
      const Value five = b.op(TN_OP_TAKE, TN_DTYPE_I32, 1, {first, b.number(63)});
      const Value wide = b.op(TN_OP_CAST, TN_DTYPE_I64, 1, {five});
      b.store(out, group, b.apply(TN_OP_ADD, read + 1, wide));
      Bytes target(32 * 8);
      shared_device().run(b.finish(), {32}, {{&target}});
      const auto sums = values_of<int64_t>(target);
      for (int64_t g = 0; g < 32; ++g) {
        const auto n = static_cast<int64_t>(count);
        CAPTURE(space, count, g);
        REQUIRE(sums[g] == n / 2 * (g * n) + (n / 2 - 1) * (n / 2) + 5);
      }
    }
  }
}

TEST_CASE("scalars of every dtype and three grid axes") {
  Writer b("grid");
  const Value out = b.buffer("out", TN_DTYPE_I64, TN_ACCESS_WRITE);
  const Value small = b.scalar("small", TN_DTYPE_I8, -128, 127);
  const Value wide = b.scalar("wide", TN_DTYPE_I64, INT64_MIN, INT64_MAX);
  const Value flag = b.scalar("flag", TN_DTYPE_BOOL, 0, 0);
  const Value real = b.scalar("real", TN_DTYPE_F64, 0, 0);
  const Value x = b.index(TN_AXIS_GRID_X, TN_DTYPE_I64), y = b.index(TN_AXIS_GRID_Y, TN_DTYPE_I64),
              z = b.index(TN_AXIS_GRID_Z, TN_DTYPE_I64);
  const Value row = b.apply(TN_OP_ADD, b.apply(TN_OP_MUL, z, b.number(3)), y);
  const Value at = b.apply(TN_OP_ADD, b.apply(TN_OP_MUL, row, b.number(5)), x);
  Value sum = b.apply(TN_OP_ADD, at, b.op(TN_OP_CAST, TN_DTYPE_I64, 1, {small}));
  sum = b.apply(TN_OP_ADD, sum, wide);
  sum = b.apply(TN_OP_ADD, sum, b.op(TN_OP_CAST, TN_DTYPE_I64, 1, {flag}));
  sum = b.apply(TN_OP_ADD, sum, b.op(TN_OP_CAST, TN_DTYPE_I64, 1, {real}));
  b.store(out, at, sum);
  Bytes target(5 * 3 * 7 * 8, 0xee);
  double half = 2000.5;
  uint64_t half_bits = 0;
  std::memcpy(&half_bits, &half, sizeof half);
  shared_device().run(
      b.finish(), {5, 3, 7},
      {{&target}, {nullptr, 0xfe}, {nullptr, 1'000'000}, {nullptr, 1}, {nullptr, half_bits}});
  const auto got = values_of<int64_t>(target);
  std::vector<int64_t> expected(got.size());
  std::iota(expected.begin(), expected.end(), -2 + 1'000'000 + 1 + 2000);
  CHECK(got == expected);
}

}  // namespace tenon::cpu_test
