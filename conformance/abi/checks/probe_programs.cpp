// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/checks/probe_programs.hpp"

#include <algorithm>

#include "conformance/abi/programs/runner.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/text.hpp"

namespace tenon::conformance::abi::checks {
namespace {

using sdk::ProgramBuilder;
using Value = ProgramBuilder::Value;

Value index_op(ProgramBuilder& b, tn_opcode op, Value x, Value y) {
  return b.op(op, TN_DTYPE_I32, 1, {x, y});
}

/// Numbers of which no two are alike, and whose high bytes are not those of a neighbour.
constexpr uint32_t kSpread = 0x01000193;

}  // namespace

sdk::Program shared_program(uint32_t words, uint32_t arrays, uint32_t threads,
                            uint32_t number_of_first) {
  ProgramBuilder b(fmt::format("shared_{}", arrays));
  b.workgroup(threads, 1, 1);
  const Value out = b.buffer("out", TN_DTYPE_U32, kReadWrite, words);
  std::vector<std::pair<Value, uint32_t>> shared;
  for (uint32_t a = 0; a < arrays; ++a) {
    const uint32_t count = words / arrays + (a + 1 == arrays ? words % arrays : 0);
    shared.emplace_back(b.allocate(fmt::format("s{}", a), TN_DTYPE_U32, TN_SPACE_SHARED, count),
                        count);
  }
  const Value thread = b.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
  const auto each = [&](uint32_t count, const std::function<void(Value)>& body) {
    const Value i = b.begin_loop(thread, i32_constant(b, count), i32_constant(b, threads));
    body(i);
    b.end();
  };
  uint32_t first = 0;
  for (const auto& [array, count] : shared) {
    each(count, [&, array = array, at = first + number_of_first](Value i) {
      const Value number = index_op(b, TN_OP_ADD, i, i32_constant(b, at));
      const Value word =
          b.op(TN_OP_MUL, TN_DTYPE_U32, 1,
               {b.op(TN_OP_CAST, TN_DTYPE_U32, 1, {number}), b.constant(TN_DTYPE_U32, kSpread)});
      b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {array, i, word});
    });
    first += count;
  }
  b.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, TN_SCOPE_BLOCK);
  first = 0;
  for (const auto& [array, count] : shared) {
    each(count, [&, array = array, at = first, last = count - 1](Value i) {
      const Value other = index_op(b, TN_OP_SUB, i32_constant(b, last), i);
      const Value word = b.op(TN_OP_TAKE, TN_DTYPE_U32, 1, {array, other});
      b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
           {out, index_op(b, TN_OP_ADD, i, i32_constant(b, at)), word});
    });
    first += count;
  }
  return b.finish();
}

sdk::Program shape_program(const uint32_t (&workgroup)[3]) {
  ProgramBuilder b("shape");
  b.workgroup(workgroup[0], workgroup[1], workgroup[2]);
  const uint32_t threads = workgroup[0] * workgroup[1] * workgroup[2];
  const Value out = b.buffer("out", TN_DTYPE_U32, kReadWrite, uint64_t{threads} * 2);
  Value thread = b.index(TN_AXIS_BLOCK_Z, TN_DTYPE_I32);
  Value mark = thread;
  for (const auto& [axis, size] :
       {std::pair(TN_AXIS_BLOCK_Y, workgroup[1]), std::pair(TN_AXIS_BLOCK_X, workgroup[0])}) {
    const Value here = b.index(axis, TN_DTYPE_I32);
    thread = index_op(b, TN_OP_ADD, index_op(b, TN_OP_MUL, thread, i32_constant(b, size)), here);
    mark = index_op(b, TN_OP_ADD, index_op(b, TN_OP_MUL, mark, i32_constant(b, 1031)), here);
  }
  const Value group = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  const Value at =
      index_op(b, TN_OP_ADD, thread, index_op(b, TN_OP_MUL, group, i32_constant(b, threads)));
  const Value word = b.op(
      TN_OP_CAST, TN_DTYPE_U32, 1,
      {index_op(b, TN_OP_ADD, mark, index_op(b, TN_OP_MUL, group, i32_constant(b, 0x40000000)))});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, at, word});
  return b.finish();
}

sdk::Program scalar_program(tn_dtype dtype, uint32_t scalars) {
  const bool is_whole = sdk::is_integer(uint8_t(dtype));
  const uint32_t bits = sdk::dtype_bytes(uint8_t(dtype)) * 8;
  const bool is_signed = sdk::is_signed(uint8_t(dtype));
  const int64_t most = !is_whole ? 0
                       : is_signed || bits == 64
                           ? static_cast<int64_t>(~uint64_t{0} >> (65 - bits))
                           : static_cast<int64_t>(~uint64_t{0} >> (64 - bits));
  const ScalarRange range{is_whole && is_signed ? -most - 1 : 0, most};
  return scalar_program(dtype, scalars, {&range, 1});
}

sdk::Program scalar_program(tn_dtype dtype, uint32_t scalars, std::span<const ScalarRange> ranges) {
  ProgramBuilder b("scalars");
  const Value out = b.buffer("out", dtype, kReadWrite, scalars);
  std::vector<Value> values;
  for (uint32_t i = 0; i < scalars; ++i)
    values.push_back(b.scalar(fmt::format("s{}", i), dtype, ranges[i % ranges.size()].first,
                              ranges[i % ranges.size()].second));
  for (uint32_t i = 0; i < scalars; ++i)
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, i32_constant(b, i), values[i]});
  return b.finish();
}

sdk::Program constant_program(tn_dtype dtype) {
  // As bits of f64 they are ordinary numbers too: none is a NaN.
  constexpr uint64_t kBits[] = {0x4123456789abcdef, 0xbfedcba987654321, 0x0000000100000000,
                                0x7fe00000000000ff, 0xc05e000000000000, 0x00000000c0ffee01,
                                0x3ff0000000000001, 0x8000000080000000};
  ProgramBuilder b(fmt::format("constants_{}", sdk::dtype_text(uint8_t(dtype))));
  const Value out = b.buffer("out", dtype, kReadWrite, std::size(kBits));
  for (uint32_t i = 0; i < std::size(kBits); ++i)
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, i32_constant(b, i), b.constant(dtype, kBits[i])});
  return b.finish();
}

uint32_t most_threads(const tn_properties& p, uint32_t most) {
  if (p.max_workgroup[0]) most = std::min(most, p.max_workgroup[0]);
  if (p.max_workgroup_threads) most = std::min(most, p.max_workgroup_threads);
  return most;
}

ExecutableHandle compile_claimed(const OpenDevice& device, const sdk::Program& program,
                                 const uint32_t (&grid)[3]) {
  if (!programs::unclaimed(device, program.view(), grid).empty()) return {};
  return device.compile(*program.get()).executable;
}

bool run_probe(const OpenDevice& device, const sdk::Program& program, bool reloaded,
               uint32_t groups) {
  const SequenceStep step{"program",
                          {static_cast<int64_t>(groups), 1, 1, 11, reloaded ? 1 : 0},
                          sdk::print_program(program.view())};
  return programs::run_program(device, step).why.empty();
}

}  // namespace tenon::conformance::abi::checks
