// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/tensor/float_parts.hpp"

#include <cmath>

namespace tenon {

FloatLayout float_layout(const Tensor& x) {
  return is_double(x) ? FloatLayout{52, 1023} : FloatLayout{23, 127};
}

Tensor power_of_two(const Tensor& n) {
  const FloatLayout layout = float_layout(n);
  const Tensor exponent = n.astype(is_double(n) ? DType::kI64 : DType::kI32) + layout.bias;
  return (exponent << layout.mantissa_bits).bit_cast(n.dtype());
}

WholeParts whole_parts(const Tensor& x) {
  const FloatLayout layout = float_layout(x);
  const int up = layout.mantissa_bits + 2;  // from subnormal numbers to normal ones
  const Tensor subnormal = x < std::ldexp(1.0, 1 - layout.bias);
  const Tensor word = where(subnormal, x * std::ldexp(1.0, up), x).bit_cast(bits_dtype(x));
  const uint64_t hidden = uint64_t{1} << layout.mantissa_bits;
  const int shift = layout.bias + layout.mantissa_bits;
  return {((word & (hidden - 1)) | hidden).astype(x.dtype()),
          (word >> layout.mantissa_bits).astype(x.dtype()) -
              where(subnormal, constant_like(x, shift + up), constant_like(x, shift))};
}

Scale power_scale(const Tensor& most) {
  const FloatLayout layout = float_layout(most);
  const auto exponent = [&](int biased) {
    return static_cast<uint64_t>(biased) << layout.mantissa_bits;
  };
  const Tensor word = most.bit_cast(bits_dtype(most)) & exponent(2 * layout.bias + 1);
  // Ends for which the inverse is a normal number too; those of Inf and NaN are as good as any.
  const Tensor up = word.maximum(exponent(1)).minimum(exponent(2 * layout.bias - 1));
  return {(exponent(2 * layout.bias) - up).bit_cast(most.dtype()), up.bit_cast(most.dtype())};
}

}  // namespace tenon
