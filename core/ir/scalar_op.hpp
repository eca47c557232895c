// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Defines each elementwise op on single values, for the reference, constant folding and the tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "core/ir/dtype.hpp"
#include "core/ir/op.hpp"

namespace tenon {

/// The low bits that an integer of the dtype has.
inline uint64_t low_bits(uint64_t value, DType dtype) {
  const size_t bits = dtype_bits(dtype);
  return bits == 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

/// Evaluates one elementwise op. `dtype` is that of the result; operands have the dtypes that
/// build.hpp requires. CAST is the value cast.
Scalar evaluate_scalar(Op op, DType dtype, std::span<const Scalar> operands);
inline Scalar evaluate_scalar(Op op, DType dtype, std::initializer_list<Scalar> operands) {
  return evaluate_scalar(op, dtype, std::span(operands.begin(), operands.size()));
}

/// How an op reads operands of a dtype.
enum class ScalarClass : uint8_t { kFloat, kInt, kCompare, kBits, kCast };
ScalarClass scalar_class(Op op, DType operand);

/// kFloat: the result before rounding to `dtype`. For f64 it is already rounded.
double float_op(Op op, DType dtype, double a, double b, double c);
/// kInt: operands are sign- or zero-extended to 64 bits; the result's low bits count.
uint64_t int_op(Op op, DType dtype, uint64_t a, uint64_t b);
bool float_compare(Op op, double a, double b);
bool int_compare(Op op, bool is_signed, uint64_t a, uint64_t b);
/// kBits: WHERE, and NEG of floats, which flips a NaN's sign too.
uint64_t bits_op(Op op, DType dtype, uint64_t a, uint64_t b, uint64_t c);

/// Identity element of a reduction by the op, in a dtype.
Scalar identity(Op op, DType dtype);

}  // namespace tenon
