// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/initialisers.hpp"

#include <fmt/ranges.h>

#include <cmath>

#include "core/support/error.hpp"
#include "tenon/linalg.hpp"
#include "tenon/make.hpp"
#include "tenon/move.hpp"

namespace tenon::nn {
namespace {

using Shape = std::vector<int64_t>;

struct Fans {
  double in, out;
};

Fans fans_of(const char* op, const Shape& shape) {
  TN_REQUIRE(shape.size() >= 2, "[{}] expected a shape of rank 2 or more, got [{}]", op,
             fmt::join(shape, ", "));
  double window = 1;
  for (size_t i = 2; i < shape.size(); ++i) window *= static_cast<double>(shape[i]);
  return {static_cast<double>(shape[1]) * window, static_cast<double>(shape[0]) * window};
}

double fan_of(const char* op, const Shape& shape, Fan fan) {
  const Fans fans = fans_of(op, shape);
  return std::max(1.0, fan == Fan::kIn ? fans.in : fans.out);
}

Tensor within(const Key& key, const Shape& shape, double bound) {
  return tenon::uniform(key, shape, -bound, bound);
}

}  // namespace

Initialiser constant(double value) {
  return [value](const Key& key, const Shape& shape) {
    return full(shape, Number(value), DType::kF32, key.words().context());
  };
}
Initialiser zeros() { return constant(0); }
Initialiser ones() { return constant(1); }

Initialiser uniform(double low, double high) {
  return [=](const Key& key, const Shape& shape) { return tenon::uniform(key, shape, low, high); };
}

Initialiser normal(double mean, double stddev) {
  return
      [=](const Key& key, const Shape& shape) { return tenon::normal(key, shape, mean, stddev); };
}

Initialiser truncated_normal(double mean, double stddev) {
  return [=](const Key& key, const Shape& shape) {
    return tenon::truncated_normal(key, shape, -2, 2) * stddev + mean;
  };
}

Initialiser xavier_uniform(double gain) {
  return [=](const Key& key, const Shape& shape) {
    const Fans fans = fans_of("nn.xavier_uniform", shape);
    return within(key, shape, gain * std::sqrt(6 / std::max(1.0, fans.in + fans.out)));
  };
}

Initialiser xavier_normal(double gain) {
  return [=](const Key& key, const Shape& shape) {
    const Fans fans = fans_of("nn.xavier_normal", shape);
    return tenon::normal(key, shape, 0.0, gain * std::sqrt(2 / std::max(1.0, fans.in + fans.out)));
  };
}

Initialiser kaiming_uniform(double gain, Fan fan) {
  return [=](const Key& key, const Shape& shape) {
    return within(key, shape, gain * std::sqrt(3 / fan_of("nn.kaiming_uniform", shape, fan)));
  };
}

Initialiser kaiming_normal(double gain, Fan fan) {
  return [=](const Key& key, const Shape& shape) {
    const double scale = gain / std::sqrt(fan_of("nn.kaiming_normal", shape, fan));
    return tenon::normal(key, shape, 0.0, scale);
  };
}

Initialiser orthogonal(double gain) {
  return [=](const Key& key, const Shape& shape) {
    TN_REQUIRE(shape.size() >= 2, "[nn.orthogonal] expected a shape of rank 2 or more, got [{}]",
               fmt::join(shape, ", "));
    const int64_t rows = shape[0];
    int64_t columns = 1;
    for (size_t i = 1; i < shape.size(); ++i) columns *= shape[i];
    const bool is_wide = rows < columns;
    const QR parts = qr(tenon::normal(key, {std::max(rows, columns), std::min(rows, columns)}));
    const Tensor q = parts.q * copysign(1.0, diagonal(parts.r));
    return (is_wide ? q.matrix_transpose() : q).reshape(shape) * gain;
  };
}

}  // namespace tenon::nn
