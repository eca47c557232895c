// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of domains.
#include "conformance/cases/domains.hpp"

namespace tenon::conformance {
namespace {

Domain float_domain(Op op, DType dtype, int operand) {
  if (op == Op::CMPEQ || op == Op::CMPNE) return {.tied = true};
  const bool small = is_small_float(dtype);
  if (op == Op::SQRT || op == Op::LOG2 || op == Op::LN)
    return {.low = 0x1p-6, .high = small ? 400.0 : 20000.0};
  if (op == Op::RECIP) return {.low = -64, .high = 64, .smallest = 0x1p-6};
  if (op == Op::FDIV && operand == 1) return {.low = -16, .high = 16, .smallest = 0.125};
  if (op == Op::EXP2 || op == Op::EXP) return {.low = small ? -5.0 : -11, .high = small ? 5.0 : 11};
  if (op == Op::SIN || op == Op::COS) return {.low = -40, .high = 40};
  if (op == Op::TRUNC || op == Op::FLOOR) return {.low = -300, .high = 300};
  if (op == Op::CAST) return {.low = -300, .high = 300};
  return {};
}

}  // namespace

Domain operand_domain(Op op, DType dtype, int operand) {
  if (is_float(dtype)) return float_domain(op, dtype, operand);
  // Special shift counts and divisors would leave zeros only.
  if ((op == Op::SHL || op == Op::SHR) && operand == 1)
    return {.low = -1, .high = static_cast<double>(dtype_bits(dtype)) + 1, .bounded = true};
  if (op == Op::SHR) return {.low = lowest(dtype).as_double(), .high = highest(dtype).as_double()};
  if (op == Op::IDIV && operand == 1) return {.low = -7, .high = 7, .bounded = true};
  if (op == Op::CMPEQ || op == Op::CMPNE) return {.low = -100, .high = 100, .tied = true};
  if (op == Op::CAST) return {.low = -70000, .high = 70000};
  return {.low = -100, .high = 100};
}

Domain term_domain(Op op, DType dtype) {
  if (!is_float(dtype))
    return {.low = op == Op::MUL ? 1.0 : -100, .high = op == Op::MUL ? 7.0 : 100};
  // Half of the powers of two within one octave of 1: a long product stays in range.
  if (op == Op::MUL) return {.low = 0.97, .high = 1.03};
  if (op == Op::ADD) return {.low = -0.25, .high = is_small_float(dtype) ? 1.0 : 4.0};
  return {};
}

Domain index_domain(int64_t size) {
  return {.low = -2, .high = static_cast<double>(size) + 1, .bounded = true};
}

}  // namespace tenon::conformance
