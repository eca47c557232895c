// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/tensor/formula.hpp"

#include "tenon/gradient.hpp"

namespace tenon {

Tensor with_gradient(
    const char* name, const Tensor& x, const std::function<Tensor(const Tensor&)>& f,
    const std::function<Tensor(const Tensor&, const Tensor&, const Tensor&)>& gradient) {
  const TensorFunction function = composite(
      name, [&](const std::vector<Tensor>& in) { return std::vector<Tensor>{f(in[0])}; },
      [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{gradient(in[0], in[1], in[2])};
      });
  return function({x})[0];
}

Tensor times_slope(const Tensor& adjoint, const Tensor& slope) {
  return where(adjoint == 0, constant_like(adjoint, 0), adjoint * slope);
}

Tensor with_slope(const char* name, const Tensor& x, const std::function<Tensor(const Tensor&)>& f,
                  const std::function<Tensor(const Tensor&, const Tensor&)>& slope) {
  return with_gradient(name, x, f, [&](const Tensor& v, const Tensor& y, const Tensor& g) {
    return times_slope(g, slope(v, y));
  });
}

Tensor polynomial(const Tensor& x, std::initializer_list<double> coefficients) {
  const double* next = coefficients.begin();
  Tensor sum = constant_like(x, *next++);
  for (; next != coefficients.end(); ++next) sum = sum * x + *next;
  return sum;
}

Tensor magnitude(const Tensor& x) { return where(x < 0, -x, x); }

Tensor odd(const Tensor& x, const Tensor& of_magnitude) {
  return where(x < 0, -of_magnitude, where(x == 0, x, of_magnitude));
}

DType bits_dtype(const Tensor& x) { return is_double(x) ? DType::kU64 : DType::kU32; }

Tensor leading(const Tensor& x) {
  const uint64_t mask = is_double(x) ? 0xFFFFFFFFF8000000 : 0xFFFFF000;
  return (x.bit_cast(bits_dtype(x)) & mask).bit_cast(x.dtype());
}

Product exact_product(const Tensor& x, const Tensor& y) {
  // Rounded to half of the bits: what is left over has one bit less, and a sign.
  const auto half = [](const Tensor& a) {
    const uint64_t last = is_double(a) ? uint64_t{1} << 27 : uint64_t{1} << 12;
    const Tensor word = a.bit_cast(bits_dtype(a)) + last / 2;
    return (word & (is_double(a) ? ~(last - 1) : 0xFFFFFFFF & ~(last - 1))).bit_cast(a.dtype());
  };
  const Tensor x0 = half(x), x1 = x - x0, y0 = half(y), y1 = y - y0;
  const Tensor product = x * y;
  return {product, ((x0 * y0 - product) + x0 * y1 + x1 * y0) + x1 * y1};
}

Tensor half_exp(const Tensor& x) {
  // e^x / 2 = e^(x - k ln 2) 2^(k-1) with a k for which k ln 2 is all but exact, and the power in
  // two halves: musl's __expo2f.c and __expo2.c.
  const bool wide = is_double(x);
  const Tensor large = x > (wide ? 709.0 : 88.0);
  const double shift = wide ? 0x1.62066151add8bp+10 : 0x1.45c778p+7;
  const double scale = wide ? 0x1p1021 : 0x1p117;
  const Tensor e = (x - where(large, constant_like(x, shift), constant_like(x, 0))).exp();
  return e * where(large, constant_like(x, scale), constant_like(x, 0.5)) *
         where(large, constant_like(x, scale), constant_like(x, 1));
}

}  // namespace tenon
