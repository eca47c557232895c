// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the generators of patterns share: indices, constants, buffers and the finished step.
#pragma once

#include <string>

#include "conformance/cases/abi/scalars.hpp"
#include "conformance/cases/abi/sequence.hpp"
#include "sdk/program/builder.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/text.hpp"

namespace tenon::conformance::abi {

class ProgramKit {
 public:
  using Value = sdk::ProgramBuilder::Value;

  explicit ProgramKit(const char* name) : builder(name) {}

  Value number(tn_dtype dtype, int64_t value, uint16_t lanes = 1) {
    const uint64_t bits =
        convert(static_cast<uint64_t>(value), TN_DTYPE_I64, static_cast<uint8_t>(dtype));
    return builder.constant(dtype, bits, lanes);
  }
  Value whole(int64_t value) { return number(TN_DTYPE_I32, value); }
  Value index(tn_opcode op, Value a, Value b) { return builder.op(op, TN_DTYPE_I32, 1, {a, b}); }
  /// a + b, a * b of indices.
  Value plus(Value a, Value b) { return index(TN_OP_ADD, a, b); }
  Value times(Value a, Value b) { return index(TN_OP_MUL, a, b); }
  Value less(Value a, Value b) { return builder.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {a, b}); }
  Value load(Value memory, Value at, uint16_t lanes = 1) {
    return builder.op(TN_OP_TAKE, static_cast<tn_dtype>(builder.at(memory).dtype), lanes,
                      {memory, at});
  }
  void store(Value memory, Value at, Value value) {
    builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {memory, at, value});
  }
  void barrier(tn_scope scope) { builder.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, scope); }
  template <class First, class Second>
  void branch(Value condition, const First& first, const Second& second) {
    builder.begin_if(condition);
    first();
    builder.begin_else();
    second();
    builder.end();
  }
  Value cast(Value value, tn_dtype to, uint64_t how = TN_CAST_VALUE) {
    return builder.op(TN_OP_CAST, to, builder.at(value).lanes, {value}, how);
  }
  /// A value that a device can store which has no narrow memory: of 32 bits, of the same kind.
  Value widened(Value value) {
    const uint8_t dtype = builder.at(value).dtype;
    return sdk::dtype_bytes(dtype) >= 4 ? value : cast(value, wide_of(dtype));
  }
  static tn_dtype wide_of(uint8_t dtype) {
    if (sdk::dtype_bytes(dtype) >= 4) return static_cast<tn_dtype>(dtype);
    if (sdk::is_float(dtype)) return TN_DTYPE_F32;
    return dtype == TN_DTYPE_BOOL || sdk::is_signed(dtype) ? TN_DTYPE_I32 : TN_DTYPE_U32;
  }

  /// What names of buffers begin with whose products are summed in the dtype: of values that a wide
  /// sum holds and a narrow one does not.
  static std::string factors_of(tn_dtype sums) {
    return sdk::dtype_bytes(static_cast<uint8_t>(sums)) >= 4 ? "large_" : "small_";
  }

  /// The number of a thread in the launch, of `threads` a workgroup in one row.
  Value thread_of_launch(int64_t threads) {
    const Value group = builder.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
    if (threads == 1) return group;
    const Value thread = builder.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
    return plus(times(group, whole(threads)), thread);
  }

  SequenceStep step(int64_t groups, int64_t seed, int64_t flags = 0, int64_t launches = 0) const {
    SequenceStep out{"program", {groups, 1, 1, seed, flags}};
    if (launches) out.numbers.push_back(launches);
    out.text = sdk::print_program(builder.finish().view());
    return out;
  }

  sdk::ProgramBuilder builder;
};

}  // namespace tenon::conformance::abi
