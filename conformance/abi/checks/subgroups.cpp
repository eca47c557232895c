// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The check of what threads of a subgroup exchange: alone in the program, in a loop, and where only
// some subgroups come to.
#include <algorithm>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/checks/probe_programs.hpp"

namespace tenon::conformance::abi::checks {
namespace {

using sdk::ProgramBuilder;
using Value = ProgramBuilder::Value;

/// Where the ops stand.
enum class Place { kPlain, kLoop, kSomeGroups, kSomeSubgroups };

/// Some subgroups; each thread stores what it was given of each op.
sdk::Program exchange_program(tn_dtype dtype, uint32_t size, uint32_t subgroups, Place place) {
  constexpr uint32_t kGroups = 2, kOps = 4;
  ProgramBuilder b("exchange");
  const uint32_t threads = size * subgroups;
  b.workgroup(threads, 1, 1);
  b.subgroup(size);
  const auto whole = [&](int64_t n) {
    return b.constant(TN_DTYPE_I32, static_cast<uint32_t>(static_cast<int32_t>(n)));
  };
  const auto index = [&](tn_opcode op, Value l, Value r) {
    return b.op(op, TN_DTYPE_I32, 1, {l, r});
  };
  const uint64_t count = uint64_t{threads} * kGroups;
  const Value out = b.buffer("out", dtype, TN_ACCESS_READ | TN_ACCESS_WRITE, count * kOps);
  const Value x = b.buffer("x", dtype, TN_ACCESS_READ, count);
  const Value group = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  const Value thread = b.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
  const Value at = index(TN_OP_ADD, index(TN_OP_MUL, group, whole(threads)), thread);
  Value value = b.op(TN_OP_TAKE, dtype, 1, {x, at});
  Value loop = 0;
  if (place == Place::kSomeGroups)
    b.begin_if(b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {whole(0), group}));
  if (place == Place::kSomeSubgroups)
    b.begin_if(
        b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {index(TN_OP_IDIV, thread, whole(size)), whole(1)}));
  if (place == Place::kLoop) {
    const Value first[] = {value};
    loop = b.begin_loop(whole(0), whole(3), whole(1), first);
    value = loop + 1;
  }
  const Value turned = index(
      TN_OP_AND, index(TN_OP_ADD, index(TN_OP_MUL, thread, whole(3)), whole(1)), whole(size - 1));
  const Value results[kOps] = {
      b.op(TN_OP_SUBGROUP_SHUFFLE, dtype, 1, {value, turned}),
      b.op(TN_OP_SUBGROUP_BROADCAST, dtype, 1, {value}, size - 1),
      b.op(TN_OP_SUBGROUP_REDUCE, dtype, 1, {value}, TN_OP_MAX),
      b.op(TN_OP_SUBGROUP_REDUCE, dtype, 1, {value}, TN_OP_ADD),
  };
  for (uint32_t k = 0; k < kOps; ++k)
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
         {out, index(TN_OP_ADD, at, whole(static_cast<int64_t>(count) * k)), results[k]});
  if (place == Place::kLoop) {
    const Value next[] = {results[0]};
    b.end(next);
  } else if (place != Place::kPlain) {
    b.end();
  }
  return b.finish();
}

void subgroups(const CheckContext& c) {
  const OpenDevice device = computing(c);
  need(device.claims(TN_OP_SUBGROUP_SHUFFLE), "the device claims no subgroups");
  const tn_properties& p = device.properties();
  bool any = false;
  for (uint32_t size = std::max(p.subgroup_min, 1u); size <= p.subgroup_max; size *= 2)
    for (const tn_dtype dtype : {TN_DTYPE_U32, TN_DTYPE_I32, TN_DTYPE_F32, TN_DTYPE_I64})
      for (const Place place :
           {Place::kPlain, Place::kLoop, Place::kSomeGroups, Place::kSomeSubgroups}) {
        const uint32_t number = std::min(most_threads(p, 3 * size) / size, 3u);
        if (number == 0) continue;
        c.alive();
        any |= run_probe(device, exchange_program(dtype, size, number, place), false, 2);
      }
  need(any, "the device takes no such program");
}

}  // namespace

std::span<const CheckRow> subgroup_checks() {
  static constexpr CheckRow kRows[] = {{"subgroups", subgroups, 63}};
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
