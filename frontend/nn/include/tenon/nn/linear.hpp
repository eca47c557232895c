// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products with learned matrices, and rows of a learned table.
#pragma once

#include <optional>

#include "tenon/export.hpp"
#include "tenon/nn/module.hpp"

namespace tenon::nn {

struct LinearOptions {
  bool bias = true;
};

/// x [.., inputs] to x weight^T + bias [.., outputs]. Both begin uniform within 1/sqrt(inputs).
struct TENON_API Linear {
  Linear(int64_t inputs, int64_t outputs, const LinearOptions& options = {});
  Linear(int64_t inputs, int64_t outputs, const Key& key, const LinearOptions& options = {})
      : Linear(inputs, outputs, options) {
    fields::initialise(*this, key);
  }
  Tensor operator()(const Tensor& x) const;

  Parameter weight;               ///< [outputs, inputs]
  std::optional<Parameter> bias;  ///< [outputs]
  TENON_FIELDS(weight, bias)
};

/// a [.., n], b [.., m] to the sum of a_i weight_kij b_j + bias_k [.., outputs]. Both begin uniform
/// within 1/sqrt(n).
struct TENON_API Bilinear {
  Bilinear(int64_t n, int64_t m, int64_t outputs, const LinearOptions& options = {});
  Bilinear(int64_t n, int64_t m, int64_t outputs, const Key& key, const LinearOptions& options = {})
      : Bilinear(n, m, outputs, options) {
    fields::initialise(*this, key);
  }
  Tensor operator()(const Tensor& a, const Tensor& b) const;

  Parameter weight;               ///< [outputs, n, m]
  std::optional<Parameter> bias;  ///< [outputs]
  TENON_FIELDS(weight, bias)
};

struct EmbeddingOptions {
  /// The row of this number stays as it is while others are learned.
  std::optional<int64_t> padding = {};
};

/// Integers [..] to rows of a table [.., size]. It begins normal, and zero in the row of padding. A
/// number that is no row gives zeros (of a device nothing can be read that is not there).
struct TENON_API Embedding {
  Embedding(int64_t count, int64_t size, const EmbeddingOptions& options = {});
  Embedding(int64_t count, int64_t size, const Key& key, const EmbeddingOptions& options = {})
      : Embedding(count, size, options) {
    fields::initialise(*this, key);
  }
  Tensor operator()(const Tensor& numbers) const;

  Parameter weight;  ///< [count, size]
  int64_t padding;   ///< -1: none
  TENON_FIELDS(weight, padding)
};

}  // namespace tenon::nn
