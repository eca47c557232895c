// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/patterns/contraction.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {
namespace {

bool is_expansion(const Node& node) {
  return node.op == Op::VIEW && node.as<ViewAttr>().kind == ViewKind::kExpand;
}

bool comes_from_expand(const Node& node) {
  for (const Node* n = &node; n->op == Op::VIEW || n->op == Op::CAST; n = n->sources[0].get())
    if (is_expansion(*n)) return true;
  return false;
}

}  // namespace

const Node& strip_casts(const Node& node) {
  const Node* n = &node;
  while (n->op == Op::CAST) n = n->sources[0].get();
  return *n;
}

const Node& strip_casts_and_views(const Node& node) {
  const Node* n = &node;
  while (n->op == Op::VIEW || n->op == Op::CAST) n = n->sources[0].get();
  return *n;
}

const Node* product_of(const Node& reduce) {
  if (reduce.op != Op::REDUCE || reduce.as<ReduceAttr>().op != Op::ADD) return nullptr;
  const Node& terms = strip_casts(*reduce.sources[0]);
  return terms.op == Op::MUL ? &terms : nullptr;
}

bool is_contraction(const Node& reduce) {
  const Node* product = product_of(reduce);
  return product && comes_from_expand(*product->sources[0]) &&
         comes_from_expand(*product->sources[1]);
}

double ProductSizes::tiles(double size) const {
  return batch * std::ceil(rows / size) * std::ceil(columns / size);
}

std::optional<ProductSizes> product_sizes(const Node& reduce, const SizeEstimate& estimate) {
  const Node* product = product_of(reduce);
  if (!product) return std::nullopt;
  std::array<const Node*, 2> factors{};
  for (size_t f = 0; f < 2; ++f) {
    const Node& factor = strip_casts(*product->sources[f]);
    if (!is_expansion(factor)) return std::nullopt;
    factors[f] = factor.sources[0].get();
  }
  ProductSizes out;
  const std::vector<int>& axes = reduce.as<ReduceAttr>().axes;
  for (size_t axis = 0; axis < product->shape.size(); ++axis) {
    if (std::ranges::count(axes, static_cast<int>(axis)) != 0) continue;
    const bool first = factors[0]->shape[axis] == product->shape[axis];
    const bool second = factors[1]->shape[axis] == product->shape[axis];
    (first == second ? out.batch
     : first         ? out.rows
                     : out.columns) *= estimate.of(product->shape[axis]);
  }
  return out;
}

}  // namespace tenon::scheduling
