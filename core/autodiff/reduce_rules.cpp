// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives of reductions.
#include <algorithm>
#include <bit>

#include "core/autodiff/backward.hpp"
#include "core/autodiff/rules.hpp"
#include "core/support/error.hpp"

namespace tenon::autodiff {
namespace {

/// Largest size to which a product tree is padded.
constexpr int64_t kMaxFactors = int64_t{1} << 24;

/// The product as a binary tree, whose derivatives are right where factors are zero.
NodeRef product_tree(const NodeRef& node, const NodeRef& x, Builder& builder) {
  const auto& attr = node->as<ReduceAttr>();
  std::vector<int> order;
  Shape reduced_sizes;
  Dim factors = 1;
  for (int axis = 0; axis < static_cast<int>(x->shape.size()); ++axis) {
    if (std::ranges::find(attr.axes, axis) != attr.axes.end()) continue;
    order.push_back(axis);
    reduced_sizes.push_back(x->shape[static_cast<size_t>(axis)]);
  }
  const Dim rest = product(reduced_sizes);
  for (const int axis : attr.axes) {
    order.push_back(axis);
    factors = factors * x->shape[static_cast<size_t>(axis)];
  }
  TN_REQUIRE(factors.max() <= kMaxFactors,
             "[gradient] expected a product of at most {} factors, got {} of {}", kMaxFactors,
             to_string(factors), type_string(*x));
  const auto size = static_cast<int64_t>(
      std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(factors.max(), 1))));
  NodeRef tree = builder.reshape(builder.permute(x, order), {rest, factors});
  tree = builder.pad(tree, {{0, 0}, {0, Dim(size) - factors}}, one(x->dtype));
  for (int64_t n = size; n > 1; n /= 2)
    tree = builder.binary(Op::MUL, builder.shrink(tree, {{0, rest}, {0, n / 2}}),
                          builder.shrink(tree, {{0, rest}, {n / 2, n}}));
  return builder.reshape(tree, node->shape);
}

/// Splits the gradient of MAX or MIN equally among equal extremes.
NodeRef to_extremes(const NodeRef& node, const NodeRef& g, Backward& backward) {
  Builder& builder = backward.builder();
  const NodeRef& x = node->sources[0];
  const NodeRef is_extreme = builder.binary(Op::CMPEQ, x, builder.expand(node, x->shape));
  const NodeRef count =
      builder.reduce(Op::ADD, builder.cast(is_extreme, g->dtype), node->as<ReduceAttr>().axes);
  const NodeRef share = builder.expand(builder.binary(Op::FDIV, g, count), x->shape);
  return builder.where(is_extreme, share, backward.zeros(x, g->dtype));
}

}  // namespace

void through_reduce(const NodeRef& node, const NodeRef& adjoint, Backward& backward) {
  const NodeRef& x = node->sources[0];
  Builder& builder = backward.builder();
  const auto& attr = node->as<ReduceAttr>();
  switch (attr.op) {
    case Op::ADD:
      backward.set_precision(*x, attr.precision);
      return backward.accumulate(x, builder.expand(adjoint, x->shape));
    case Op::MUL: {
      const NodeRef factors = backward.widened(x);
      const NodeRef tree = product_tree(node, factors, builder);
      const Gradients by =
          Backward(builder, backward.options()).run({tree}, {backward.widened(adjoint)}, {factors});
      return backward.accumulate(x, by.of[0]);
    }
    case Op::MAX:
    case Op::MIN:
      return backward.accumulate(x, to_extremes(node, backward.widened(adjoint), backward));
    default:
      TN_ASSERT(false);
  }
}

}  // namespace tenon::autodiff
