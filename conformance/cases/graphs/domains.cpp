// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of domains.
#include "conformance/cases/graphs/domains.hpp"

#include "conformance/cases/graphs/boundary_values.hpp"
#include "core/ir/narrow_float.hpp"

namespace tenon::conformance::graphs {
namespace {

/// Powers of two up to it are far from the ends of the dtype.
double exponent_reach(DType dtype) { return float_format(dtype).bias * 5 / 8.0; }

Domain float_domain(Op op, DType dtype, int operand) {
  switch (op_family(op)) {
    case OpFamily::ROOT:
    case OpFamily::LOG:
      return {.low = 0x1p-6, .high = is_small_float(dtype) ? 400.0 : 20000.0};
    case OpFamily::QUOTIENT:
      if (op_info(op).arity == 1) return {.low = -64, .high = 64, .smallest = 0x1p-6};
      return operand == 1 ? Domain{.low = -16, .high = 16, .smallest = 0.125} : Domain{};
    case OpFamily::POWER:
      return {.low = -exponent_reach(dtype), .high = exponent_reach(dtype)};
    case OpFamily::ANGLE:  // a relaxed device promises nothing further out
      return {.low = -3.140625, .high = 3.140625};
    case OpFamily::WHOLE:
    case OpFamily::CONVERT:
      return {.low = -300, .high = 300};
    default:
      return {};
  }
}

Domain integer_domain(Op op, DType dtype, int operand) {
  const OpFamily family = op_family(op);
  const bool second = operand == 1;
  if (family == OpFamily::SHIFT && second)
    return {.low = -1, .high = static_cast<double>(dtype_bits(dtype)) + 1};
  if (op == Op::SHR) return {.low = lowest(dtype).as_double(), .high = highest(dtype).as_double()};
  if (family == OpFamily::DIVISION && second) return {.low = -7, .high = 7};
  if (family == OpFamily::CONVERT) return {.low = -70000, .high = 70000};
  return {.low = -100, .high = 100};
}

Tie tie_of(Op op, DType dtype) {
  switch (op_family(op)) {
    case OpFamily::ORDER:
    case OpFamily::EXTREME:
      return Tie::kEqual;
    case OpFamily::SUM:
      return Tie::kCancel;
    case OpFamily::PRODUCT:
    case OpFamily::QUOTIENT:
      return is_float(dtype) && op_info(op).arity == 2 ? Tie::kScale : Tie::kNone;
    default:
      return Tie::kNone;
  }
}

/// Counts and divisors from all over the range would leave zeros only.
bool takes_few(Op op, int operand) {
  return operand == 1 && (op_family(op) == OpFamily::SHIFT || op == Op::IDIV);
}

}  // namespace

Domain operand_domain(Op op, DType dtype, int operand, DType other) {
  Domain domain =
      is_float(dtype) ? float_domain(op, dtype, operand) : integer_domain(op, dtype, operand);
  domain.edges = &op_edges(op, dtype, other, operand);
  domain.tie = tie_of(op, dtype);
  domain.wide = !takes_few(op, operand) || is_float(dtype);
  domain.small_share = !domain.wide;
  return domain;
}

Domain term_domain(Op op, DType dtype) {
  Domain domain;
  if (!is_float(dtype))
    domain = {.low = op == Op::MUL ? 1.0 : -100, .high = op == Op::MUL ? 7.0 : 100};
  // Half of the powers of two within one octave of 1: a long product stays in range.
  else if (op == Op::MUL)
    domain = {.low = 0.97, .high = 1.03};
  else if (op == Op::ADD)
    domain = {.low = -0.25, .high = is_small_float(dtype) ? 1.0 : 4.0};
  domain.summed = true;
  domain.odd = op == Op::MUL && is_int(dtype);
  domain.one_sided = op_family(op) == OpFamily::EXTREME || (op == Op::ADD && is_float(dtype));
  return domain;
}

Domain index_domain(int64_t size) { return {.positions = size}; }

}  // namespace tenon::conformance::graphs
