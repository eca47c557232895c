// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/checks/large_probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "conformance/abi/checks/probe_programs.hpp"
#include "sdk/program/op_info.hpp"

namespace tenon::conformance::abi::checks {

using sdk::ProgramBuilder;
using Value = ProgramBuilder::Value;

sdk::Program arguments_program(tn_dtype dtype, uint32_t buffers, uint32_t scalars) {
  ProgramBuilder b("arguments");
  std::vector<Value> buffer, scalar;
  const uint32_t each = scalars / buffers + 2;  // the first element is the buffer's own
  for (uint32_t i = 0; i < buffers; ++i)
    buffer.push_back(b.buffer(fmt::format("b{}", i), dtype, kReadWrite, each));
  const bool is_wide = dtype == TN_DTYPE_I64;
  for (uint32_t i = 0; i < scalars; ++i)
    scalar.push_back(b.scalar(fmt::format("s{}", i), dtype, is_wide ? INT64_MIN : INT32_MIN,
                              is_wide ? INT64_MAX : INT32_MAX));
  for (uint32_t i = 0; i < buffers; ++i) {
    const Value old = b.op(TN_OP_TAKE, dtype, 1, {buffer[i], i32_constant(b, 0)});
    const Value sum = b.op(TN_OP_ADD, dtype, 1, {old, b.constant(dtype, i + 1)});
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {buffer[i], i32_constant(b, 0), sum});
  }
  for (uint32_t i = 0; i < scalars; ++i)
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
         {buffer[i % buffers], i32_constant(b, 1 + i / buffers), scalar[i]});
  return b.finish();
}

sdk::Program lanes_program(tn_dtype dtype, uint16_t lanes) {
  constexpr uint32_t kGroups = 3;
  ProgramBuilder b("lanes");
  const uint64_t count = uint64_t{lanes} * kGroups;
  const Value out = b.buffer("out", dtype, kReadWrite, 3 * count + kGroups);
  const Value x = b.buffer("x", dtype, TN_ACCESS_READ, count);
  const Value y = b.buffer("y", dtype, TN_ACCESS_READ, count);
  const Value group = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  const auto index = [&](tn_opcode op, Value l, Value r) {
    return b.op(op, TN_DTYPE_I32, 1, {l, r});
  };
  const auto at = [&](int64_t page) {
    return index(TN_OP_ADD, index(TN_OP_MUL, group, i32_constant(b, lanes)),
                 i32_constant(b, page * static_cast<int64_t>(count)));
  };
  const Value a = b.op(TN_OP_TAKE, dtype, lanes, {x, at(0)});
  const Value c = b.op(TN_OP_TAKE, dtype, lanes, {y, at(0)});
  const Value sum = b.op(TN_OP_ADD, dtype, lanes, {a, c});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, at(0), sum});
  // Every third lane, by a mask of each.
  const Value lane = b.index(TN_AXIS_LANE, TN_DTYPE_I32, lanes);
  const Value third =
      b.op(TN_OP_MOD, TN_DTYPE_I32, lanes, {lane, b.constant(TN_DTYPE_I32, 3, lanes)});
  const Value mask =
      b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, lanes, {third, b.constant(TN_DTYPE_I32, 1, lanes)});
  const Value chosen = b.op(TN_OP_WHERE, dtype, lanes, {mask, c, a});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, at(1), chosen, mask});
  const Value last = b.op(TN_OP_EXTRACT, dtype, 1, {sum}, lanes - 1u);
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, at(2), b.op(TN_OP_BROADCAST, dtype, lanes, {last})});
  const Value least = b.op(TN_OP_LANE_REDUCE, dtype, 1, {sum}, TN_OP_MAX);
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
       {out, index(TN_OP_ADD, group, i32_constant(b, 3 * static_cast<int64_t>(count))), least});
  return b.finish();
}

sdk::Program iterations_program(uint32_t iterations) {
  ProgramBuilder b("turns");
  const Value out = b.buffer("out", TN_DTYPE_U32, kReadWrite, 2);
  const Value first[] = {b.constant(TN_DTYPE_U32, 1), b.constant(TN_DTYPE_U32, 0)};
  const Value loop =
      b.begin_loop(i32_constant(b, 0), i32_constant(b, iterations), i32_constant(b, 1), first);
  const Value iteration = b.op(TN_OP_CAST, TN_DTYPE_U32, 1, {loop});
  const Value scaled = b.op(TN_OP_MUL, TN_DTYPE_U32, 1, {loop + 1, b.constant(TN_DTYPE_U32, 3)});
  const Value next[] = {b.op(TN_OP_XOR, TN_DTYPE_U32, 1, {scaled, iteration}), iteration};
  b.end(next);
  for (uint32_t k = 0; k < 2; ++k)
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, i32_constant(b, k), loop + 1 + k});
  return b.finish();
}

sdk::Program counter_program(int64_t begin, int64_t end, int64_t step) {
  constexpr uint32_t kMost = 16;
  ProgramBuilder b("counter");
  const Value out = b.buffer("out", TN_DTYPE_I64, kReadWrite, kMost);
  const auto wide = [&](int64_t n) { return b.constant(TN_DTYPE_I64, static_cast<uint64_t>(n)); };
  const Value first[] = {i32_constant(b, 0)};
  const Value loop = b.begin_loop(wide(begin), wide(end), wide(step), first);
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, loop + 1, loop});
  const Value next[] = {b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {loop + 1, i32_constant(b, 1)})};
  b.end(next);
  return b.finish();
}

sdk::Program ops_program(uint32_t ops) {
  constexpr uint32_t kElements = 16, kRound = 4;
  ProgramBuilder b("ops");
  const Value out = b.buffer("out", TN_DTYPE_U32, kReadWrite, kElements);
  const Value at = b.op(TN_OP_AND, TN_DTYPE_I32, 1,
                        {b.index(TN_AXIS_GRID_X, TN_DTYPE_I32), i32_constant(b, kElements - 1)});
  const Value old = b.op(TN_OP_TAKE, TN_DTYPE_U32, 1, {out, at});
  Value x = old;
  for (uint32_t i = 0; i < ops / kRound; ++i) {
    const uint32_t number = (i + 1) * 0x9E3779B1u;
    x = b.op(TN_OP_MUL, TN_DTYPE_U32, 1, {x, b.constant(TN_DTYPE_U32, number | 1)});
    x = b.op(TN_OP_XOR, TN_DTYPE_U32, 1, {x, b.constant(TN_DTYPE_U32, number >> 7)});
  }
  x = b.op(TN_OP_ADD, TN_DTYPE_U32, 1, {x, old});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, at, x});
  return b.finish();
}

sdk::Program deep_program(uint32_t ifs, uint32_t loops) {
  constexpr uint32_t kElements = 16;
  ProgramBuilder b("deep");
  const Value out = b.buffer("out", TN_DTYPE_U32, kReadWrite, kElements);
  const Value at = b.op(TN_OP_AND, TN_DTYPE_I32, 1,
                        {b.index(TN_AXIS_GRID_X, TN_DTYPE_I32), i32_constant(b, kElements - 1)});
  Value number = at;
  for (uint32_t k = 0; k < std::max(ifs, loops); ++k) {
    if (k < loops) {
      const Value iteration =
          b.begin_loop(i32_constant(b, k), i32_constant(b, k + 1), i32_constant(b, 1));
      number = b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {number, iteration});
    }
    if (k >= ifs) continue;
    b.begin_if(b.op(TN_OP_CMPNE, TN_DTYPE_BOOL, 1, {at, i32_constant(b, k + kElements / 2)}));
  }
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, at, b.op(TN_OP_CAST, TN_DTYPE_U32, 1, {number})});
  for (uint32_t k = 0; k < ifs + loops; ++k) b.end();
  return b.finish();
}

namespace {

/// Each thread comes to one leaf, and writes which one.
void branch(ProgramBuilder& b, Value out, Value thread, uint32_t depth, uint32_t path) {
  if (depth == 0) {
    const Value old = b.op(TN_OP_TAKE, TN_DTYPE_U32, 1, {out, thread});
    const Value sum = b.op(TN_OP_ADD, TN_DTYPE_U32, 1, {old, b.constant(TN_DTYPE_U32, path + 1)});
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, thread, sum});
    return;
  }
  const Value bit =
      b.op(TN_OP_AND, TN_DTYPE_I32, 1, {thread, i32_constant(b, int64_t{1} << (depth - 1))});
  b.begin_if(b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {bit, i32_constant(b, 1)}));
  branch(b, out, thread, depth - 1, path * 2);
  b.begin_else();
  branch(b, out, thread, depth - 1, path * 2 + 1);
  b.end();
}

}  // namespace

sdk::Program branches_program(uint32_t depth, uint32_t threads) {
  ProgramBuilder b("branches");
  b.workgroup(threads, 1, 1);
  const Value out = b.buffer("out", TN_DTYPE_U32, kReadWrite, threads);
  branch(b, out, b.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32), depth, 1);
  return b.finish();
}

sdk::Program scratch_program(uint32_t threads, uint32_t count) {
  ProgramBuilder b("scratch");
  b.workgroup(threads, 1, 1);
  const Value out = b.buffer("out", TN_DTYPE_U32, kReadWrite, threads);
  const Value own = b.allocate("own", TN_DTYPE_U32, TN_SPACE_SCRATCH, count);
  const Value thread = b.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
  const Value number = b.op(TN_OP_CAST, TN_DTYPE_U32, 1, {thread});
  const Value fill = b.begin_loop(i32_constant(b, 0), i32_constant(b, count), i32_constant(b, 1));
  const Value mark =
      b.op(TN_OP_MUL, TN_DTYPE_U32, 1, {number, b.constant(TN_DTYPE_U32, 0x01000193)});
  const Value each = b.op(TN_OP_CAST, TN_DTYPE_U32, 1, {fill});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {own, fill, b.op(TN_OP_XOR, TN_DTYPE_U32, 1, {mark, each})});
  b.end();
  const Value first[] = {b.constant(TN_DTYPE_U32, 0)};
  const Value sum =
      b.begin_loop(i32_constant(b, 0), i32_constant(b, count), i32_constant(b, 1), first);
  const Value found = b.op(TN_OP_TAKE, TN_DTYPE_U32, 1, {own, sum});
  const Value scaled = b.op(TN_OP_MUL, TN_DTYPE_U32, 1, {sum + 1, b.constant(TN_DTYPE_U32, 3)});
  const Value next[] = {b.op(TN_OP_ADD, TN_DTYPE_U32, 1, {scaled, found})};
  b.end(next);
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, thread, sum + 1});
  return b.finish();
}

}  // namespace tenon::conformance::abi::checks
