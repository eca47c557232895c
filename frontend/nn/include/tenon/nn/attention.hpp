// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention: Vaswani et al., 2017.
#pragma once

#include <optional>

#include "tenon/export.hpp"
#include "tenon/nn/linear.hpp"
#include "tenon/nn/mode.hpp"
#include "tenon/nn/module.hpp"

namespace tenon::nn {

struct AttentionOptions {
  bool causal = false;  ///< query i sees keys up to i + keys - queries
  int64_t window = 0;   ///< above 0: and of these the last so many; without `causal`, as many after
  /// Broadcasts to [.., queries, keys]: bools say what is seen, floats are added to the scores.
  std::optional<Tensor> mask = {};
  std::optional<double> scale = {};  ///< none: 1 / sqrt(size)
  double dropout = 0;                ///< of the weights, while the mode is training
};

/// softmax(q k^T scale) v. q [.., heads, queries, size], k [.., groups, keys, size], v [.., groups,
/// keys, size of the result]: heads are a multiple of groups, and so many in a row share one. A
/// query that sees nothing gives zeros. Scores of f16 and bf16 are f32.
TENON_API Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v,
                           const AttentionOptions& options = {}, const Mode& mode = {});

/// Keys and values of the positions so far, where a model answers one position after another. In a
/// traced function whose cache is donated, what is appended is written in place:
///
///   cache.append(k, v);
///   Tensor y = attention(q, cache);
struct TENON_API KeyValueCache {
  /// Room for `capacity` positions of [n, groups, .., size].
  KeyValueCache(int64_t n, int64_t groups, int64_t capacity, int64_t size,
                DType dtype = DType::kF32, Context& context = Context::standard());
  /// k and v [n, groups, new, size] come after what is there.
  void append(const Tensor& k, const Tensor& v);

  Tensor keys, values;  ///< [n, groups, capacity, size]
  Tensor length;        ///< positions that were appended, i64 []
  TENON_FIELDS(keys, values, length)
};

/// Causal attention of the positions that were appended last, q [n, heads, queries, size], to all
/// in the cache. Of the options a window and a scale count; a mask throws. What was appended beyond
/// the capacity makes NaN.
TENON_API Tensor attention(const Tensor& q, const KeyValueCache& cache,
                           const AttentionOptions& options = {}, const Mode& mode = {});

/// Turns pairs of the last axis of x [.., positions, size] by position / base^(2i / size): Su et
/// al., 2021. Pair i is elements i and i + size/2, as in Llama; `interleaved`: 2i and 2i + 1.
/// Positions count from `first`, a number or an integer tensor [].
TENON_API Tensor rotary(const Tensor& x, const Tensor& first = 0, double base = 10000,
                        bool interleaved = false);

struct MultiHeadOptions {
  bool bias = true;
  bool causal = false;
  double dropout = 0;
};

/// PyTorch's MultiheadAttention of one width, batch first: the weights of queries, keys and values
/// are one. It begins with Xavier's, biases with 0.
struct TENON_API MultiHeadAttention {
  MultiHeadAttention(int64_t width, int64_t heads, const MultiHeadOptions& options = {});
  MultiHeadAttention(int64_t width, int64_t heads, const Key& key,
                     const MultiHeadOptions& options = {})
      : MultiHeadAttention(width, heads, options) {
    fields::initialise(*this, key);
  }
  /// Of itself: x [n, positions, width].
  Tensor operator()(const Tensor& x, const Mode& mode = {}) const;
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                    const AttentionOptions& options = {}, const Mode& mode = {}) const;

  Parameter in_proj_weight;               ///< [3 width, width]
  std::optional<Parameter> in_proj_bias;  ///< [3 width]
  Linear out_proj;
  int64_t heads;
  bool causal;
  Fixed dropout;
  TENON_FIELDS(in_proj_weight, in_proj_bias, out_proj, heads, causal, dropout)
};

}  // namespace tenon::nn
