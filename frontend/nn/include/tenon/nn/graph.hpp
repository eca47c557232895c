// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers on graphs. A graph is a dense matrix [.., n, n], whose element i, j is the weight of the
// edge from node j to node i, 0 for none (docs/decisions/0012); names and beginnings of parameters
// are those of PyTorch Geometric.
#pragma once

#include <optional>

#include "tenon/export.hpp"
#include "tenon/nn/linear.hpp"
#include "tenon/nn/mode.hpp"
#include "tenon/nn/module.hpp"

namespace tenon::nn {

/// The matrix of edges: integers [2, edges], from row 0 to row 1, of n nodes; f32 [n, n] of ones,
/// or of weights [edges]. Edges that stand twice add up; ends that are no node are left out.
/// `both_ways`: the same edges back, too.
TENON_API Tensor adjacency(const Tensor& edges, int64_t n, bool both_ways = false,
                           const std::optional<Tensor>& weights = {});

/// D^-1/2 (A + I) D^-1/2, where D is diagonal, the sums of the rows of A + I: what GCNConv takes. A
/// row that adds up to 0 or less becomes 0.
TENON_API Tensor normalised_adjacency(const Tensor& adjacency);

struct GCNConvOptions {
  bool bias = true;
};

/// Features x [.., n, inputs] to a x weight^T + bias [.., n, outputs], where `a` is the normalised
/// adjacency: Kipf and Welling, 2017. Begins with Xavier's, the bias with 0.
struct TENON_API GCNConv {
  GCNConv(int64_t inputs, int64_t outputs, const GCNConvOptions& options = {});
  GCNConv(int64_t inputs, int64_t outputs, const Key& key, const GCNConvOptions& options = {})
      : GCNConv(inputs, outputs, options) {
    fields::initialise(*this, key);
  }
  Tensor operator()(const Tensor& x, const Tensor& a) const;

  std::optional<Parameter> bias;  ///< [outputs]
  Linear lin;
  TENON_FIELDS(bias, lin)
};

struct GATConvOptions {
  int64_t heads = 1;
  bool concat = true;  ///< heads beside each other; else their mean
  double slope = 0.2;  ///< of scores below 0
  double dropout = 0;  ///< of the weights, while the mode is training
  bool bias = true;
};

/// Of each head h = x weight^T, scores e_ij = leaky_relu(att_dst . h_i + att_src . h_j); node i
/// becomes the sum of softmax_j(e_ij) h_j over itself and the nodes j with an edge to it, plus
/// bias: Velickovic et al., 2018. x [.., n, inputs] to [.., n, heads outputs], or [.., n, outputs].
/// Weights of edges do not count, bools will do. Begins with Xavier's, the bias with 0.
struct TENON_API GATConv {
  GATConv(int64_t inputs, int64_t outputs, const GATConvOptions& options = {});
  GATConv(int64_t inputs, int64_t outputs, const Key& key, const GATConvOptions& options = {})
      : GATConv(inputs, outputs, options) {
    fields::initialise(*this, key);
  }
  Tensor operator()(const Tensor& x, const Tensor& adjacency, const Mode& mode = {}) const;

  Parameter att_src, att_dst;     ///< [1, heads, outputs]
  std::optional<Parameter> bias;  ///< [heads outputs], or [outputs]
  Linear lin;
  bool concat;
  Fixed slope, dropout;
  TENON_FIELDS(att_src, att_dst, bias, lin, concat, slope, dropout)
};

}  // namespace tenon::nn
