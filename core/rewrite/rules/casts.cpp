// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Removes casts to the same dtype, and casts through a dtype that holds every value of the first.
#include "core/ir/narrow_float.hpp"
#include "core/rewrite/rules/rules.hpp"

namespace tenon::rewrite {
namespace {

/// Significant bits and exponent range of a float dtype.
struct FloatSize {
  int precision, max_exponent, min_exponent;  ///< min: of the smallest subnormal
};
FloatSize float_size(DType dtype) {
  const FloatFormat& f = float_format(dtype);
  return {f.mantissa_bits + 1, static_cast<int>(f.max_finite >> f.mantissa_bits) - f.bias,
          1 - f.bias - f.mantissa_bits};
}

/// Whether every value of `from` is a value of `to`.
bool lossless(DType from, DType to) {
  if (from == to || from == DType::kBool) return true;
  if (to == DType::kBool) return false;
  const int from_bits = static_cast<int>(dtype_bits(from)),
            to_bits = static_cast<int>(dtype_bits(to));
  if (is_float(from)) {
    if (!is_float(to) || !has_infinity(to)) return false;
    const FloatSize a = float_size(from), b = float_size(to);
    return a.precision <= b.precision && a.max_exponent <= b.max_exponent &&
           a.min_exponent >= b.min_exponent;
  }
  const int magnitude = is_signed(from) ? from_bits - 1 : from_bits;
  if (is_float(to)) {
    const FloatSize b = float_size(to);
    return magnitude <= b.precision && magnitude <= b.max_exponent;
  }
  if (is_signed(from) && !is_signed(to)) return false;
  return magnitude <= (is_signed(to) ? to_bits - 1 : to_bits);
}

NodeRef useless_cast(const NodeRef& node, Builder&) {
  return node->dtype == node->sources[0]->dtype ? node->sources[0] : nullptr;
}

NodeRef cast_of_cast(const NodeRef& node, Builder& builder) {
  const NodeRef& inner = node->sources[0];
  if (inner->op != Op::CAST) return nullptr;
  const NodeRef& x = inner->sources[0];
  const bool outer_bits = node->as<CastAttr>().bits, inner_bits = inner->as<CastAttr>().bits;
  if (outer_bits != inner_bits) return nullptr;
  if (outer_bits)  // a byte other than 0 and 1 becomes a bool on the way
    return inner->dtype == DType::kBool ? nullptr : builder.bit_cast(x, node->dtype);
  // Through a float an integer saturates; a direct cast wraps.
  const bool saturates = !is_float(x->dtype) && is_float(inner->dtype) && is_int(node->dtype);
  if (saturates && !lossless(x->dtype, node->dtype)) return nullptr;
  return lossless(x->dtype, inner->dtype) ? builder.cast(x, node->dtype) : nullptr;
}

}  // namespace

Rules cast_rules() {
  return {{"useless cast", {Op::CAST}, useless_cast}, {"cast of cast", {Op::CAST}, cast_of_cast}};
}

}  // namespace tenon::rewrite
