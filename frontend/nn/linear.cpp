// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/linear.hpp"

#include <cmath>

#include "core/support/error.hpp"
#include "frontend/nn/bias.hpp"
#include "frontend/nn/in_layer.hpp"
#include "tenon/gradient.hpp"
#include "tenon/linalg.hpp"
#include "tenon/make.hpp"
#include "tenon/nn/initialisers.hpp"

namespace tenon::nn {
namespace {

double bound_of(const char* op, int64_t inputs, int64_t outputs) {
  TN_REQUIRE(inputs > 0 && outputs > 0, "[{}] expected sizes above 0, got {} and {}", op, inputs,
             outputs);
  return 1 / std::sqrt(static_cast<double>(inputs));
}

void check_inputs(const char* op, const Tensor& x, int64_t inputs) {
  TN_REQUIRE(
      x.rank() > 0 && x.sizes()[static_cast<size_t>(x.rank() - 1)] == Size(inputs),
      "[{}] expected {} inputs in the last axis, got {}", op, inputs,
      x.rank() == 0 ? "a tensor of rank 0" : x.sizes()[static_cast<size_t>(x.rank() - 1)].text());
}

}  // namespace

Linear::Linear(int64_t inputs, int64_t outputs, const LinearOptions& options)
    : weight({outputs, inputs}, uniform(-bound_of("nn.linear", inputs, outputs),
                                        bound_of("nn.linear", inputs, outputs))),
      bias(bias_of(options.bias, outputs, bound_of("nn.linear", inputs, outputs))) {}

Tensor Linear::operator()(const Tensor& x) const {
  return in_layer(weight, [&] {
    check_inputs("nn.linear", x, weight.declared->shape[1]);
    const Tensor product = x.rank() == 1
                               ? x.expand_dims(0).matmul(weight.matrix_transpose()).squeeze(0)
                               : x.matmul(weight.matrix_transpose());
    return bias ? product + *bias : product;
  });
}

Bilinear::Bilinear(int64_t n, int64_t m, int64_t outputs, const LinearOptions& options)
    : weight({outputs, n, m},
             uniform(-bound_of("nn.bilinear", n, outputs), bound_of("nn.bilinear", n, outputs))),
      bias(bias_of(options.bias, outputs, bound_of("nn.bilinear", n, outputs))) {
  TN_REQUIRE(m > 0, "[nn.bilinear] expected sizes above 0, got {}", m);
}

Tensor Bilinear::operator()(const Tensor& a, const Tensor& b) const {
  return in_layer(weight, [&] {
    check_inputs("nn.bilinear", a, weight.declared->shape[1]);
    check_inputs("nn.bilinear", b, weight.declared->shape[2]);
    const Tensor sum = einsum("...n,knm,...m->...k", {a, weight, b});
    return bias ? sum + *bias : sum;
  });
}

Embedding::Embedding(int64_t count, int64_t size, const EmbeddingOptions& options)
    : weight({count, size},
             [padding = options.padding](const Key& key, const std::vector<int64_t>& shape) {
               Tensor rows = tenon::normal(key, shape);
               if (!padding) return rows;
               const Tensor row = arange(shape[0], DType::kI64, rows.context());
               return where((row == *padding).expand_dims(1), 0.0, rows);
             }),
      padding(options.padding.value_or(-1)) {
  TN_REQUIRE(count > 0 && size > 0, "[nn.embedding] expected sizes above 0, got {} and {}", count,
             size);
  TN_REQUIRE(!options.padding || (0 <= padding && padding < count),
             "[nn.embedding] expected padding to be a row of {}, got {}", count, padding);
}

Tensor Embedding::operator()(const Tensor& numbers) const {
  return in_layer(weight, [&] {
    TN_REQUIRE(!is_float(numbers.dtype()) && numbers.dtype() != DType::kBool,
               "[nn.embedding] expected integers, got {}", dtype_name(numbers.dtype()));
    std::vector<Size> shape = numbers.sizes().vector();
    shape.emplace_back(weight.declared->shape[1]);
    const Tensor flat = numbers.ravel();
    Tensor rows = weight.take(flat, 0);
    if (padding >= 0) rows = where((flat == padding).expand_dims(1), stop_gradient(rows), rows);
    return rows.reshape(shape);
  });
}

}  // namespace tenon::nn
