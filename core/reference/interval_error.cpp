// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of allowed errors (docs/conformance.md). Where a format is not named there: f64 has
// f32's row in its own units; relaxed rows are those of the Vulkan specification, appendix
// "Precision and Operation of SPIR-V Instructions".
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/reference/interval_ops.hpp"
#include "core/support/error.hpp"

namespace tenon::reference {
namespace {

double largest(const Interval& x) { return std::max(std::abs(x.low), std::abs(x.high)); }

bool meets(const Interval& x, double low, double high) { return x.low <= high && x.high >= low; }

AllowedError relaxed_error(Op op, DType dtype, const Interval& x) {
  const bool half = dtype == DType::kF16;
  switch (op) {
    case Op::RECIP:
    case Op::FDIV:
      return {.ulps = 2.5};
    case Op::SQRT:  // "inherited from 1.0 / inversesqrt(x)": 2 and 2.5
      return {.ulps = 4.5};
    case Op::EXP2:
    case Op::EXP:
      if (half) return {.ulps = 1 + 2 * largest(x)};
      return {.ulps = 3 + 2 * largest(x)};
    case Op::LOG2:
    case Op::LN:
      if (!meets(x, 0.5, 2)) return {.ulps = 3};
      return {.ulps = 3, .absolute = std::ldexp(1, half ? -7 : -21)};
    case Op::SIN:
    case Op::COS:
      if (largest(x) > std::numbers::pi * (1 + 1e-6)) return {.unbounded = true};
      return {.absolute = std::ldexp(1, half ? -7 : -11)};
    default:
      return {};
  }
}

AllowedError strict_error(Op op, DType dtype) {
  const bool half = dtype == DType::kF16;
  switch (op) {
    case Op::EXP2:
    case Op::EXP:
    case Op::LOG2:
    case Op::LN:
      return {.ulps = half ? 2.0 : 3.0};
    case Op::SIN:
    case Op::COS:
      return {.ulps = half ? 2.0 : 4.0};
    default:
      return {};
  }
}

bool rounds(Op op) {
  switch (op) {
    case Op::MAX:
    case Op::MIN:
    case Op::NEG:
    case Op::TRUNC:
    case Op::FLOOR:
    case Op::WHERE:
      return false;
    default:
      return true;
  }
}

}  // namespace

AllowedError allowed_error(Op op, DType dtype, const Interval& argument, const Profile& profile) {
  if (dtype == DType::kBF16) {  // arithmetic in f32, then 1 or 2 units
    AllowedError error = profile.strict ? AllowedError{} : relaxed_error(op, DType::kF32, argument);
    error.ulps = rounds(op) ? (profile.strict ? 1 : 2) : 0;
    return error;
  }
  return profile.strict ? strict_error(op, dtype) : relaxed_error(op, dtype, argument);
}

bool is_pinned(Op op, DType operand, DType result, const Profile& profile) {
  if (!is_float(operand) && !is_float(result)) return true;
  if (profile.numerics != 0 && op != Op::WHERE) return false;
  switch (op) {
    case Op::CAST:
    case Op::CMPLT:
    case Op::CMPNE:
    case Op::CMPEQ:
      return true;
    case Op::ADD:
    case Op::SUB:
    case Op::MUL:
      return compute_dtype(result, profile) != DType::kBF16;
    case Op::RECIP:
    case Op::SQRT:
      return profile.strict && compute_dtype(result, profile) != DType::kBF16;
    case Op::FDIV:
      return profile.strict && profile.has(op) && compute_dtype(result, profile) != DType::kBF16;
    case Op::FMA:
      return profile.strict && profile.has(op) && (result == DType::kF32 || result == DType::kF64);
    default:
      return !rounds(op);
  }
}

}  // namespace tenon::reference
