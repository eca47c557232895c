// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transforms as products with small matrices. Inside, complex numbers are an axis of parts:
// [batch, 2, n], or [batch, 1, n] where all are real.
#include "tenon/fft.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/make.hpp"
#include "tenon/move.hpp"

namespace tenon {
namespace {

using Complex = std::complex<double>;

constexpr int64_t kLargestFactor = 32;  ///< joined of smaller ones; 8 and 16 took longer on the CPU
constexpr int64_t kLargestPrime = 128;
constexpr int64_t kMaxLength = int64_t{1}
                               << 26;  ///< roots of unity are made before a device has them

/// e^(-2 pi i k / n), by an angle of at most pi / 4.
Complex root(int64_t k, int64_t n) {
  const int64_t quadrant = 4 * k / n, rest = 4 * k - quadrant * n;
  const bool near = 2 * rest <= n;
  const double angle =
      std::numbers::pi / 2 * static_cast<double>(near ? rest : n - rest) / static_cast<double>(n);
  const double c = near ? std::cos(angle) : std::sin(angle);
  const double s = near ? std::sin(angle) : std::cos(angle);
  const Complex turned[] = {{c, -s}, {-s, -c}, {-c, s}, {s, c}};
  return turned[quadrant % 4];
}

/// Factors whose product is n; none if one of its primes is too large.
std::vector<int64_t> factors_of(int64_t n) {
  std::vector<int64_t> primes, factors;
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) primes.insert(primes.begin(), p);
  if (n > 1) primes.insert(primes.begin(), n);
  if (!primes.empty() && primes[0] > kLargestPrime) return {};
  for (const int64_t p : primes) {
    const auto fits = [&](int64_t factor) { return factor * p <= kLargestFactor; };
    const auto found = std::ranges::find_if(factors, fits);
    if (found == factors.end())
      factors.push_back(p);
    else
      *found *= p;
  }
  if (factors.empty()) factors.push_back(1);
  return factors;
}

/// Real parts, then imaginary ones.
std::vector<double> parts_of(const std::vector<Complex>& numbers) {
  std::vector<double> parts;
  for (const Complex& z : numbers) parts.push_back(z.real());
  for (const Complex& z : numbers) parts.push_back(z.imag());
  return parts;
}

Tensor table(const Tensor& x, const std::string& name, std::vector<int64_t> shape,
             const std::function<std::vector<double>()>& make) {
  return x.context().impl().tables.get(x.context(), name, x.dtype(), std::move(shape), make);
}

/// The r x r matrix of roots, as one of real numbers: [part, row, parts * r].
Tensor roots(const Tensor& x, int64_t r, int64_t parts) {
  return table(x, fmt::format("fft.roots {} {}", r, parts), {2, r, parts * r}, [&] {
    std::vector<double> values;
    for (int64_t part = 0; part < 2; ++part)
      for (int64_t k = 0; k < r; ++k)
        for (int64_t of = 0; of < parts; ++of)
          for (int64_t j = 0; j < r; ++j) {
            const Complex w = root(k * j % r, r);
            values.push_back(part == of ? w.real() : part == 0 ? -w.imag() : w.imag());
          }
    return values;
  });
}

/// Roots of n by the product of both positions: [2, m, r, 1].
Tensor twiddles(const Tensor& x, int64_t m, int64_t r) {
  return table(x, fmt::format("fft.twiddles {} {}", m, r), {2, m, r, 1}, [&] {
    std::vector<Complex> values;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t k = 0; k < r; ++k) values.push_back(root(i * k, m * r));
    return parts_of(values);
  });
}

/// [batch, parts, ..] times complex [2, ..].
Tensor times(const Tensor& x, const Tensor& w) {
  if (x.size(1) == 1) return x * w;
  const Tensor real = w.take(0, 0), imag = w.take(1, 0);
  return x * real + x.flip(1) * where(positions(x, 1) == 0, -imag, imag);
}

/// What is asked of a transform: parts (1: the real ones) and how many of the first numbers.
struct Wanted {
  int64_t parts, count;
};

/// [batch, parts, n] to [batch, wanted.parts, at least wanted.count].
Tensor by_factors(Tensor x, const std::vector<int64_t>& factors, Wanted wanted) {
  const Size batch = x.sizes()[0];
  int64_t left = x.size(2), done = 1;  // x is [batch, parts, left, done]
  for (size_t i = 0; i < factors.size(); ++i) {
    const int64_t r = factors[i], m = left / r, parts = x.size(1);
    Tensor matrix = roots(x, r, parts);
    const bool last = i + 1 == factors.size();
    if (last)
      matrix = matrix.slice({Slice{0, wanted.parts}, Slice{0, (wanted.count - 1) / done + 1}});
    const int64_t kept = matrix.size(0), rows = matrix.size(1);
    Tensor y = matrix.reshape({kept * rows, parts * r})
                   .matmul(x.reshape({batch, parts * r, m * done}), Precision::kExact)
                   .reshape({batch, kept, rows, m, done})
                   .transpose({0, 1, 3, 2, 4});
    if (!last) y = times(y, twiddles(y, m, r));
    x = y.reshape({batch, kept, m, rows * done});
    left = m, done *= rows;
  }
  return x.reshape({batch, x.size(1), done});
}

/// Of a power of two on the host.
std::vector<Complex> transformed(const std::vector<Complex>& x) {
  const size_t n = x.size(), half = n / 2;
  if (n == 1) return x;
  std::vector<Complex> parts[2], out(n);
  for (size_t i = 0; i < n; ++i) parts[i % 2].push_back(x[i]);
  const std::vector<Complex> even = transformed(parts[0]), odd = transformed(parts[1]);
  for (size_t k = 0; k < half; ++k) {
    const Complex turned = root(static_cast<int64_t>(k), static_cast<int64_t>(n)) * odd[k];
    out[k] = even[k] + turned, out[k + half] = even[k] - turned;
  }
  return out;
}

/// j k = (j^2 + k^2 - (k - j)^2) / 2: a convolution with a chirp (Bluestein, 1970).
Tensor by_chirp(const Tensor& x) {
  const int64_t n = x.size(2), m = int64_t{1} << ceil_log2(2 * n - 1);
  const auto chirp = [n](int64_t k) { return root(k * k % (2 * n), 2 * n); };
  const Tensor turns = table(x, fmt::format("fft.chirp {}", n), {2, n}, [&] {
    std::vector<Complex> values;
    for (int64_t k = 0; k < n; ++k) values.push_back(chirp(k));
    return parts_of(values);
  });
  const Tensor spectrum = table(x, fmt::format("fft.chirp_spectrum {}", n), {2, m}, [&] {
    std::vector<Complex> back(static_cast<size_t>(m));
    for (int64_t k = 0; k < n; ++k)
      for (const int64_t at : {k, (m - k) % m})
        back[static_cast<size_t>(at)] = std::conj(chirp(k)) / static_cast<double>(m);
    return parts_of(transformed(back));
  });
  const std::vector<int64_t> factors = factors_of(m);
  const Tensor padded = times(x, turns).pad({{0, 0}, {0, 0}, {0, m - n}});
  const Tensor product = times(by_factors(padded, factors, {2, m}), spectrum);
  // The inverse is the transform of numbers whose parts change places.
  const Tensor back = by_factors(product.flip(1), factors, {2, m}).flip(1);
  return times(part_of_last(back, 0, n), turns);
}

Tensor transform(const Tensor& x, Wanted wanted) {
  const std::vector<int64_t> factors = factors_of(x.size(2));
  const Tensor y = factors.empty() ? by_chirp(x) : by_factors(x, factors, wanted);
  return y.slice({Slice{}, Slice{0, wanted.parts}, Slice{0, wanted.count}});
}

/// A tensor's axis as [batch, 1, n] and back.
class Along {
 public:
  Along(const char* op, const Tensor& x, int axis)
      : axis_(normalise_axis(op, axis, x.rank())), dtype_(real_dtype(x)), shape_(dims_of(x)) {
    const int64_t length = fixed_axis(op, x, axis_);
    TN_REQUIRE(length > 0, "[{}] expected a non-empty axis, got size 0 on axis {}", op, axis_);
    TN_REQUIRE(length <= kMaxLength, "[{}] expected a length of at most {}, got {}", op, kMaxLength,
               length);
    shape_.erase(shape_.begin() + axis_);
  }

  Tensor rows(const Tensor& x) const {
    return axis_to_last(as_real(x), axis_).reshape({size_of(product(shape_)), 1, x.size(axis_)});
  }

  Tensor result(const Tensor& y, int part, double scale) const {
    Shape shape = shape_;
    shape.push_back(dims_of(y)[2]);
    const Tensor whole = last_to_axis(y.take(part, 1).reshape(to_sizes(shape)), axis_);
    return rounded(scale == 1 ? whole : whole * scale, dtype_);
  }

 private:
  int axis_;
  DType dtype_;
  Shape shape_;  ///< without the axis
};

double scale_of(FFTNorm norm, int64_t n, bool forward) {
  const auto size = static_cast<double>(n);
  if (norm == FFTNorm::kOrtho) return 1 / std::sqrt(size);
  return forward == (norm == FFTNorm::kForward) ? 1 / size : 1;
}

ComplexPair with_one_type(const char* op, const ComplexPair& x) {
  const Operands both = promote_and_broadcast(op, x.real, x.imag);
  return {make_tensor(*both.context, both.a), make_tensor(*both.context, both.b)};
}

/// The inverse changes the places of the parts before and after.
ComplexPair complex_transform(const char* op, const ComplexPair& given, int axis, FFTNorm norm,
                              bool forward) {
  const ComplexPair x = with_one_type(op, given);
  const Along along(op, x.real, axis);
  const Tensor real = along.rows(x.real), imag = along.rows(x.imag);
  const int64_t n = real.size(2);
  const Tensor y = transform(
      concatenate(forward ? std::vector<Tensor>{real, imag} : std::vector<Tensor>{imag, real}, 1),
      {2, n});
  const double scale = scale_of(norm, n, forward);
  return {along.result(y, forward ? 0 : 1, scale), along.result(y, forward ? 1 : 0, scale)};
}

}  // namespace

ComplexPair fft(const ComplexPair& x, int axis, FFTNorm norm) {
  return complex_transform("fft", x, axis, norm, /*forward=*/true);
}

ComplexPair ifft(const ComplexPair& x, int axis, FFTNorm norm) {
  return complex_transform("ifft", x, axis, norm, /*forward=*/false);
}

ComplexPair rfft(const Tensor& x, int axis, FFTNorm norm) {
  const Along along("rfft", x, axis);
  const Tensor rows = along.rows(x);
  const int64_t n = rows.size(2);
  const Tensor y = transform(rows, {2, n / 2 + 1});
  const double scale = scale_of(norm, n, /*forward=*/true);
  return {along.result(y, 0, scale), along.result(y, 1, scale)};
}

Tensor irfft(const ComplexPair& pair, std::optional<int64_t> n, int axis, FFTNorm norm) {
  const ComplexPair x = with_one_type("irfft", pair);
  const Along along("irfft", x.real, axis);
  const int64_t given = along.rows(x.real).size(2), size = n.value_or(2 * (given - 1));
  TN_REQUIRE(size >= 1, "[irfft] expected a length of at least 1, got {}", size);
  TN_REQUIRE(size <= kMaxLength, "[irfft] expected a length of at most {}, got {}", kMaxLength,
             size);
  const int64_t half = size / 2 + 1;
  const auto whole = [&](const Tensor& part, bool odd) {
    const Tensor rows = along.rows(part);
    const Tensor first =
        given < half ? rows.pad({{0, 0}, {0, 0}, {0, half - given}}) : part_of_last(rows, 0, half);
    const Tensor rest = part_of_last(first, 1, size - half + 1).flip(2);
    // Of conjugates: the inverse is the conjugate of their transform.
    return concatenate(odd ? std::vector<Tensor>{-first, rest} : std::vector<Tensor>{first, rest},
                       2);
  };
  const Tensor y =
      transform(concatenate({whole(x.real, false), whole(x.imag, true)}, 1), {1, size});
  return along.result(y, 0, scale_of(norm, size, /*forward=*/false));
}

namespace {

Tensor frequencies(const char* op, int64_t n, double spacing, DType dtype, Context& context,
                   bool half) {
  TN_REQUIRE(n >= 1, "[{}] expected a length of at least 1, got {}", op, n);
  TN_REQUIRE(is_float(dtype), "[{}] expected a float dtype, got {}", op, dtype_name(dtype));
  Array array = Array::zeros(dtype, {half ? n / 2 + 1 : n});
  for (int64_t k = 0; k < array.count(); ++k) {
    const int64_t at = half || k < (n + 1) / 2 ? k : k - n;
    array.set(k, Scalar::of(dtype, static_cast<double>(at) / (static_cast<double>(n) * spacing)));
  }
  return tensor(array, context);
}

Tensor shifted(const char* op, const Tensor& x, const Axes& axes, bool back) {
  Tensor result = x;
  for (const int axis : normalise_axes(op, axes, x.rank())) {
    const Dim& extent = dims_of(x)[static_cast<size_t>(axis)];
    const Dim half = floor_div(extent, 2), begin = back ? half : extent - half;
    std::vector<Slice> ahead(static_cast<size_t>(axis) + 1), behind = ahead;
    ahead.back() = {size_of(begin), {}};
    behind.back() = {{}, size_of(begin)};
    result = concatenate({result.slice(ahead), result.slice(behind)}, axis);
  }
  return result;
}

}  // namespace

Tensor fftfreq(int64_t n, double spacing, DType dtype, Context& context) {
  return frequencies("fftfreq", n, spacing, dtype, context, /*half=*/false);
}
Tensor rfftfreq(int64_t n, double spacing, DType dtype, Context& context) {
  return frequencies("rfftfreq", n, spacing, dtype, context, /*half=*/true);
}

Tensor fftshift(const Tensor& x, const Axes& axes) {
  return shifted("fftshift", x, axes, /*back=*/false);
}
Tensor ifftshift(const Tensor& x, const Axes& axes) {
  return shifted("ifftshift", x, axes, /*back=*/true);
}

}  // namespace tenon
