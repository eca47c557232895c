// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Distributions made of uniform and normal draws.
#include <cmath>
#include <numbers>

#include "core/support/error.hpp"
#include "frontend/tensor/formula.hpp"
#include "frontend/tensor/random_bits.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/sort.hpp"

namespace tenon {
namespace {

constexpr int64_t kGammaProposals = 8;
constexpr int64_t kPoissonProposals = 16;
constexpr int kPoissonTerms = 45;  ///< P(N > 45) of rate 10 is 10^-15
// Streams of one key.
constexpr uint32_t kNormal = 0, kAccept = 2, kBoost = 3, kOther = 8;

Tensor horner(const Tensor& x, std::initializer_list<double> coefficients) {
  Tensor sum = constant_like(x, *coefficients.begin());
  for (auto next = coefficients.begin() + 1; next != coefficients.end(); ++next)
    sum = sum * x + *next;
  return sum;
}

/// Giles's single precision polynomials; in f64 two steps by Newton go on from there.
Tensor inverse_erf(const Tensor& y) {
  const Tensor w = -((1 - y) * (1 + y)).log();
  const Tensor near = w.minimum(5) - 2.5, far = w.maximum(5).sqrt() - 3;
  Tensor x =
      y *
      where(w < 5,
            horner(near, {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06,
                          0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941}),
            horner(far, {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
                         0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682}));
  if (y.dtype() != DType::kF64) return x;
  const auto step = [&](const Tensor& at) {
    return at -
           (erf(at) - y) * (-at.square()).exp().reciprocal() * (std::sqrt(std::numbers::pi) / 2);
  };
  return step(step(x));
}

/// The first of some proposals [n, ..] that is accepted, or the last one.
Tensor first_accepted(const Tensor& values, const Tensor& accepted) {
  const int64_t count = values.size(0);
  const Tensor place = positions(values, 0);
  const Tensor first = where(accepted, place, count - 1).min(0, /*keepdims=*/true);
  return where(place == first, values, 0).sum(0);
}

Sizes in_front(int64_t count, const Sizes& shape) {
  std::vector<Size> all = shape.vector();
  all.insert(all.begin(), Size(count));
  return all;
}

/// What stands before an axis that the parameters have, and that axis; nothing where nothing is
/// asked for.
Sizes before_last(const Sizes& asked, const Tensor& parameters) {
  if (asked.size() == 0) return asked;
  std::vector<Size> all = asked.vector();
  all.push_back(parameters.sizes()[static_cast<size_t>(parameters.rank()) - 1]);
  return all;
}

/// ln G(a) in a shape: small ones would be 0 without it.
Tensor log_gamma_draw(const Key& key, const Tensor& a, const Sizes& shape, uint32_t stream) {
  const Sizes all = in_front(kGammaProposals, shape);
  const Tensor small = a < 1;
  const Tensor d = where(small, a + 1, a) - 1.0 / 3, c = (d * 9).rsqrt();
  const Tensor x = unit_normal(key, all, DType::kF32, stream + kNormal);
  const Tensor v = (c * x + 1) * (c * x + 1) * (c * x + 1);
  const Tensor positive = v > 0;
  const Tensor log_v = where(positive, v, 1).log();
  const Tensor u = 1 - unit_uniform(key, all, DType::kF32, stream + kAccept);
  const Tensor accepted = positive & (u.log() < x.square() * 0.5 + d - d * v + d * log_v);
  const Tensor drawn = first_accepted(where(positive, log_v, 0), accepted) + d.log();
  // G(a) = G(a + 1) u^(1/a)
  const Tensor boost = (1 - unit_uniform(key, shape, DType::kF32, stream + kBoost)).log();
  return where(small, drawn + boost / a, drawn);
}

/// ln(k!), by Stirling's series four places further on.
Tensor log_factorial(const Tensor& k) {
  const Tensor z = k + 1, w = z + 4, r = w.reciprocal();
  const Tensor series = (w - 0.5) * w.log() - w + 0.5 * std::log(2 * std::numbers::pi) +
                        r * (1.0 / 12 - r * r * (1.0 / 360 - r * r * (1.0 / 1260)));
  return series - (z * (z + 1) * (z + 2) * (z + 3)).log();
}

/// Of rates below 10: how many partial sums of the distribution lie at or below u.
Tensor poisson_inverse(const Tensor& u, const Tensor& rate) {
  Tensor term = (-rate).exp(), sum = term;
  Tensor count = constant_like(u, 0);
  for (int k = 1; k <= kPoissonTerms; ++k) {
    count = count + (u >= sum).astype(DType::kF32);
    term = term * rate * (1.0 / k);
    sum = sum + term;
  }
  return count;
}

/// Of rates from 10 on.
Tensor poisson_rejection(const Key& key, const Tensor& rate, const Sizes& shape) {
  const Sizes all = in_front(kPoissonProposals, shape);
  const Tensor b = rate.sqrt() * 2.53 + 0.931, a = b * 0.02483 - 0.059;
  const Tensor log_inverse = ((b - 3.4).reciprocal() * 1.1328 + 1.1239).log();
  const Tensor u = unit_uniform(key, all, DType::kF32, kNormal) - 0.5;
  const Tensor v = 1 - unit_uniform(key, all, DType::kF32, kAccept);
  const Tensor us = 0.5 - u.abs();
  const Tensor away = where(us > 0, us, 0.5);
  const Tensor k = ((a * 2 / away + b) * u + rate + 0.43).floor();
  const Tensor fast = (us >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2));
  const Tensor inside = (us > 0) & (k >= 0) & ((us >= 0.013) | (v <= us));
  const Tensor left = v.log() + log_inverse - (a / away.square() + b).log();
  const Tensor right = k * rate.log() - rate - log_factorial(k.maximum(0));
  return first_accepted(k.maximum(0), fast | (inside & (left <= right)));
}

/// Of the standard normal distribution, the share above x >= 0 by the density there: Mills's ratio.
/// From 5 on by Laplace's continued fraction.
double mills_ratio(double x) {
  const double root = std::sqrt(std::numbers::pi / 2);
  if (x < 5) return root * std::erfc(x / std::numbers::sqrt2) * std::exp(x * x / 2);
  double rest = x;
  for (int k = 100; k > 0; --k) rest = x + k / rest;
  return 1 / rest;
}
Tensor mills_ratio(const Tensor& x) {
  return scaled_erfc(x * (1 / std::numbers::sqrt2)) * std::sqrt(std::numbers::pi / 2);
}

/// Normal draws between 1 <= low < high. The share above x, as a part of that above `low`, is
/// uniform; x = low + t follows from its logarithm by Newton's method, which comes from above.
Tensor normal_tail(const Tensor& u, double low, double high) {
  const double at_low = mills_ratio(low);
  const double width =
      std::isinf(high)
          ? -1
          : std::expm1((low - high) * ((low + high) / 2) + std::log(mills_ratio(high) / at_low));
  const Tensor log_share = log1p(u * width);
  const Tensor twice = log_share * -2;
  Tensor t = twice / ((twice + std::min(low * low, 0x1p120)).sqrt() + low);
  const int steps = u.dtype() == DType::kF64 ? 4 : 3;
  for (int step = 0; step < steps; ++step) {
    const Tensor ratio = mills_ratio(t + low);
    const Tensor above = t * (t + 2 * low) * -0.5 + (ratio * (1 / at_low)).log() - log_share;
    t = (t + ratio * above).maximum(0);
  }
  return t + low;
}

}  // namespace

Tensor truncated_normal(const Key& key, const Sizes& shape, double low, double high, DType dtype) {
  TN_REQUIRE(low < high, "[truncated_normal] expected low < high, got {} and {}", low, high);
  TN_REQUIRE(is_float(dtype), "[truncated_normal] expected a float dtype, got {}",
             dtype_name(dtype));
  key.use("truncated_normal");
  const DType inside = dtype == DType::kF64 ? dtype : DType::kF32;
  const Tensor u = unit_uniform(key, shape, inside);
  const auto between = [&] {
    if (low >= 1) return normal_tail(u, low, high);
    if (high <= -1) return -normal_tail(u, -high, -low);
    const double from = std::erf(low / std::numbers::sqrt2),
                 to = std::erf(high / std::numbers::sqrt2);
    const double most = inside == DType::kF64 ? 1 - 0x1p-53 : 1 - 0x1p-24;
    const Tensor share = u * (to - from) + from;
    return inverse_erf(share.maximum(-most).minimum(most)) * std::numbers::sqrt2;
  };
  return between().maximum(low).minimum(high).astype(dtype);
}

Tensor exponential(const Key& key, const Sizes& shape, const Tensor& rate, DType dtype) {
  TN_REQUIRE(is_float(dtype), "[exponential] expected a float dtype, got {}", dtype_name(dtype));
  key.use("exponential");
  const DType inside = dtype == DType::kF64 ? dtype : DType::kF32;
  return (-(1 - unit_uniform(key, shape, inside)).log() / beside(key, rate, inside)).astype(dtype);
}

Tensor gamma(const Key& key, const Tensor& a, const Sizes& asked) {
  const Sizes shape = drawn_shape("gamma", asked, a.sizes());
  key.use("gamma");
  return log_gamma_draw(key, parameter("gamma", key, a, shape), shape, 0).exp();
}

Tensor beta(const Key& key, const Tensor& a, const Tensor& b, const Sizes& asked) {
  const Sizes shape =
      drawn_shape("beta", asked, to_sizes(broadcast_shapes("beta", dims_of(a), dims_of(b))));
  key.use("beta");
  const Tensor x = log_gamma_draw(key, parameter("beta", key, a, shape), shape, 0);
  const Tensor y = log_gamma_draw(key, parameter("beta", key, b, shape), shape, kOther);
  return (x - y).sigmoid();
}

Tensor dirichlet(const Key& key, const Tensor& alpha, const Sizes& asked) {
  TN_REQUIRE(alpha.rank() >= 1, "[dirichlet] expected alpha [.., n], got rank 0");
  const Sizes shape = drawn_shape("dirichlet", before_last(asked, alpha), alpha.sizes());
  key.use("dirichlet");
  return log_gamma_draw(key, parameter("dirichlet", key, alpha, shape), shape, 0).softmax(-1);
}

Tensor poisson(const Key& key, const Tensor& rate, const Sizes& asked) {
  const Sizes shape = drawn_shape("poisson", asked, rate.sizes());
  const Tensor mean = parameter("poisson", key, rate, shape);
  key.use("poisson");
  const Tensor low = mean < 10;
  const Tensor few =
      poisson_inverse(unit_uniform(key, shape, DType::kF32, kOther), where(low, mean, 1));
  const Tensor many = poisson_rejection(key, where(low, 10, mean), shape);
  return where(low, few, many).astype(DType::kI64);
}

Tensor categorical(const Key& key, const Tensor& logits, const Sizes& asked) {
  TN_REQUIRE(logits.rank() >= 1 && dims_of(logits).back().min() > 0,
             "[categorical] expected logits [.., n] with n above 0, got {}",
             to_string(dims_of(logits)));
  const Sizes shape = drawn_shape("categorical", before_last(asked, logits), logits.sizes());
  key.use("categorical");
  return (parameter("categorical", key, logits, shape) + gumbel(key, shape)).argmax(-1);
}

namespace {

/// 64 random bits for each of n.
Tensor random_order(const Key& key, const Size& n) {
  const RandomWords words = random_words(key, {n});
  return words.first.astype(DType::kU64) * (uint64_t{1} << 32) | words.second.astype(DType::kU64);
}

}  // namespace

Tensor permutation(const Key& key, int64_t n) {
  TN_REQUIRE(n >= 0, "[permutation] expected a size of at least 0, got {}", n);
  key.use("permutation");
  return argsort(random_order(key, n), 0);
}

Tensor permutation(const Key& key, const Tensor& x, int axis) {
  const int at = normalise_axis("permutation", axis, x.rank());
  key.use("permutation");
  return x.take(argsort(random_order(key, size_of(dims_of(x)[static_cast<size_t>(at)])), 0), at);
}

Tensor choice(const Key& key, const Tensor& x, const Sizes& shape, bool replace,
              const std::optional<Tensor>& p) {
  TN_REQUIRE(x.rank() == 1 && dims_of(x)[0].min() > 0,
             "[choice] expected elements [n] with n above 0, got {}", to_string(dims_of(x)));
  TN_REQUIRE(!p || same_shape(dims_of(*p), dims_of(x)), "[choice] expected chances {}, got {}",
             to_string(dims_of(x)), to_string(dims_of(*p)));
  check_count("choice", to_shape(shape));
  const Dim wanted = product(to_shape(shape)), extent = dims_of(x)[0];
  TN_REQUIRE(replace || less(extent, wanted).is_const(0),
             "[choice] expected at most {} elements without replacement, got {}", to_string(extent),
             to_string(wanted));
  key.use("choice");
  const Size count = size_of(wanted), n = size_of(extent);
  Tensor at = filled(x, {count}, 0, DType::kI64);
  if (replace && p) {
    const Tensor sums = cumsum(p->astype(DType::kF32), 0);
    const Tensor u = unit_uniform(key, {count}, DType::kF32) * sums.take(-1, 0);
    at = searchsorted(sums, u, /*right=*/true).minimum(count_as(at, extent) - 1);
  } else if (replace) {
    const Tensor bits = random_order(key, count);
    at = (bits % count_as(bits, extent)).astype(DType::kI64);
  } else {
    const Tensor order = p ? argsort(gumbel(key, {n}) + p->astype(DType::kF32).log(), 0, true)
                           : argsort(random_words(key, {n}).first, 0);
    at = order.slice({Slice{0, count}});
  }
  return x.take(at, 0).reshape(shape);
}

}  // namespace tenon
