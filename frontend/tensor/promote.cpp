// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/promote.hpp"

#include <algorithm>

#include "core/ir/narrow_float.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

DType wider(DType a, DType b) { return dtype_size(a) < dtype_size(b) ? b : a; }

/// The smallest dtype that `fits`, or f64.
template <class Fits>
DType smallest(Fits fits) {
  DType found = DType::kF64;
  for (const DType dtype : all_dtypes())
    if (fits(dtype) && (found == DType::kF64 || dtype_size(dtype) < dtype_size(found)))
      found = dtype;
  return found;
}

/// i8 and u8 meet in i16, i64 and u64 in f64, as in NumPy.
DType promote_integers(DType a, DType b) {
  if (is_signed(a) == is_signed(b)) return wider(a, b);
  const DType whole = is_signed(a) ? a : b, natural = is_signed(a) ? b : a;
  return smallest([&](DType dtype) {
    return is_int(dtype) && is_signed(dtype) && dtype_size(dtype) >= dtype_size(whole) &&
           dtype_size(dtype) > dtype_size(natural);
  });
}

/// NumPy's floats hold the integer, as far as one does; bf16 and fp8 stay themselves, as in JAX.
DType promote_integer(DType integer, DType real) {
  if (!is_ieee(real)) return real;
  const DType holds = smallest([&](DType dtype) {
    return is_ieee(dtype) && float_format(dtype).mantissa_bits >= int(dtype_bits(integer));
  });
  return wider(real, holds);
}

/// Of two formats, of which NumPy lacks one, neither need hold the other: f32 does, or f64.
DType promote_floats(DType a, DType b) {
  if (is_ieee(a) && is_ieee(b)) return wider(a, b);
  return wider(DType::kF32, wider(a, b));
}

void check(DType dtype) {
  TN_REQUIRE(std::ranges::count(all_dtypes(), dtype) == 1,
             "[promote_types] expected dtypes of tensors, got {}", dtype_name(dtype));
}

}  // namespace

DType promote_types(DType a, DType b) {
  check(a);
  check(b);
  if (a == b || b == DType::kBool) return a;
  if (a == DType::kBool) return b;
  if (is_float(a)) return is_float(b) ? promote_floats(a, b) : promote_integer(b, a);
  return is_float(b) ? promote_integer(a, b) : promote_integers(a, b);
}

}  // namespace tenon
