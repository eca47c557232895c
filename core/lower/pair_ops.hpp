// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 64-bit integer arithmetic on pairs of 32-bit words, for devices without 64-bit integers.
#pragma once

#include "core/lower/word_ops.hpp"

namespace tenon {

/// A 64-bit integer as two u32: low + 2^32 * high, two's complement if signed.
struct Pair {
  OpTree::Value low = 0, high = 0;
};

class PairOps {
 public:
  using Value = OpTree::Value;
  PairOps(OpTree& tree, const Capabilities& capabilities)
      : tree_(tree), words_(tree, capabilities) {}

  Pair constant(uint64_t bits, int lanes);
  /// An op on two (NEG: one) 64-bit operands of `dtype` with a 64-bit result.
  Pair arithmetic(tn_opcode op, DType dtype, const Pair& x, const Pair& y);
  Pair select(Value condition, const Pair& x, const Pair& y);
  Value compare(tn_opcode op, DType dtype, const Pair& x, const Pair& y);
  /// Value casts; the other dtype is bool, an integer of at most 32 bits or a float.
  Pair widen(Value x, DType from, DType to);
  Value narrow(const Pair& x, DType from, DType to);

 private:
  Pair add(const Pair& x, const Pair& y);
  Pair subtract(const Pair& x, const Pair& y);
  Pair multiply(const Pair& x, const Pair& y);
  /// The high word of a product of words.
  Value multiply_high(Value x, Value y);
  Pair shift_left(const Pair& x, const Pair& by);
  Pair shift_right(const Pair& x, const Pair& by, bool is_signed);
  /// Quotient (IDIV) or remainder (MOD), with the signs of ops.def.
  Pair divide(tn_opcode op, const Pair& x, const Pair& y, bool is_signed);
  Value less(const Pair& x, const Pair& y, bool is_signed);
  Value is_zero(const Pair& x);
  Value is_negative(const Pair& x);
  Pair negate(const Pair& x);
  Pair magnitude(const Pair& x);
  Pair from_float(Value x, DType from, DType to);
  Value to_float(Pair x, DType from, DType to);

  Value word(uint32_t value, Value like) {
    return words_.constant(DType::kU32, value, words_.lanes(like));
  }
  Value opposite(Value x) {
    return words_.op(TN_OP_XOR, DType::kBool, {x, words_.constant(DType::kBool, 1)});
  }
  Value both(Value x, Value y) { return words_.op(TN_OP_AND, DType::kBool, {x, y}); }
  Value any(Value x, Value y) { return words_.op(TN_OP_OR, DType::kBool, {x, y}); }

  OpTree& tree_;
  WordOps words_;
};

}  // namespace tenon
