// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/sequential.hpp"

#include "core/support/error.hpp"
#include "tenon/random.hpp"

namespace tenon::nn {

Tensor relu(const Tensor& x) { return x.relu(); }
Tensor gelu(const Tensor& x) { return x.gelu(); }
Tensor tanh(const Tensor& x) { return x.tanh(); }
Tensor sigmoid(const Tensor& x) { return x.sigmoid(); }

Tensor flatten(const Tensor& x) {
  TN_REQUIRE(x.rank() > 0, "[nn.flatten] expected [n, ..], got rank 0");
  Size rest = 1;
  for (size_t i = 1; i < x.sizes().size(); ++i) rest = rest * x.sizes()[i];
  return x.reshape({x.sizes()[0], rest});
}

Dropout::Dropout(double part) : rate(part) {
  TN_REQUIRE(0 <= part && part < 1, "[nn.dropout] expected a rate in [0, 1), got {}", part);
}

Tensor Dropout::operator()(const Tensor& x, const Mode& mode) const {
  if (!mode.is_training() || rate.value() == 0) return x;
  return x * dropout_mask(mode.key("nn.dropout"), x.sizes(), rate.value(), x.dtype());
}

}  // namespace tenon::nn
