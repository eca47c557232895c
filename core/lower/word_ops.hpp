// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Narrow values on a device without narrow dtypes: their carriers in registers, and conversions in
// 32-bit arithmetic.
//
// A narrow integer is carried as the i32 or u32 of equal value, a narrow float as its bits in a
// u32, bool as bool.
#pragma once

#include "core/ir/capabilities.hpp"
#include "core/lower/op_tree.hpp"

namespace tenon {

/// True for dtypes of less than four bytes.
inline bool is_narrow(DType dtype) { return dtype != DType::kVoid && dtype_size(dtype) < 4; }

/// The dtype that carries a value in registers; the dtype itself if it is not narrow.
DType carrier(DType dtype);

class WordOps {
 public:
  using Value = OpTree::Value;
  WordOps(OpTree& tree, const Capabilities& capabilities)
      : tree_(tree), capabilities_(capabilities) {}

  Value constant(DType dtype, uint64_t bits, int lanes = 1);
  Value number(Value like, int64_t value);  ///< of its dtype
  /// Scalar operands are broadcast.
  Value op(tn_opcode code, DType dtype, std::vector<Value> operands, uint64_t imm = 0);
  DType dtype(Value v) const { return static_cast<DType>(tree_.at(v).dtype); }
  int lanes(Value v) const { return tree_.at(v).lanes; }

  Value add(Value x, Value y) { return op(TN_OP_ADD, dtype(x), {x, y}); }
  Value plus(Value x, int64_t y) { return add(x, number(x, y)); }
  Value subtract(Value x, Value y);
  Value multiply(Value x, Value y) { return op(TN_OP_MUL, dtype(x), {x, y}); }
  Value mask(Value x, int64_t bits) { return op(TN_OP_AND, dtype(x), {x, number(x, bits)}); }
  Value either(Value x, Value y) { return op(TN_OP_OR, dtype(x), {x, y}); }
  Value less(Value x, Value y) { return op(TN_OP_CMPLT, DType::kBool, {x, y}); }
  Value below(Value x, int64_t y) { return less(x, number(x, y)); }
  Value unequal(Value x, Value y) { return op(TN_OP_CMPNE, DType::kBool, {x, y}); }
  Value select(Value c, Value x, Value y) { return op(TN_OP_WHERE, dtype(x), {c, x, y}); }
  Value value_cast(Value x, DType to);  ///< between dtypes that are not narrow
  Value bit_cast(Value x, DType to);
  /// x * 2^n and x / 2^n for x >= 0; n in [0, 32).
  Value shift_left(Value x, int n);
  Value shift_right(Value x, int n);

  /// A cast, of which at least one dtype is narrow. `bits`: a bit cast of equal sizes, else by
  /// value.
  Value cast(Value x, DType from, DType to, bool bits);
  /// The carrier of a value given by the low bits of a u32, whose other bits are zero.
  Value from_bits(Value word, DType dtype);
  Value to_bits(Value x, DType dtype);

 private:
  Value decode(Value bits, DType from);  ///< narrow float to f32, exactly
  Value encode(Value x, DType to);       ///< f32 to narrow float, to nearest even
  Value to_f32(Value x, DType from, DType last);
  Value to_integer(Value x, DType from, DType to);
  Value to_bool(Value x, DType from);
  Value sign_extend(Value x, DType dtype);

  OpTree& tree_;
  const Capabilities& capabilities_;
};

}  // namespace tenon
