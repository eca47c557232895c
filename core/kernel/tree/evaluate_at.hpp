// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates a node at a symbolic index to a DAG of values; lists the reductions below it.
#pragma once

#include <unordered_map>

#include "core/kernel/tree/index_map.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// The condition that a dimension of size 0 or 1 is not empty; 1 for other sizes. Such a dimension
/// has no loop, so loads below it need this guard.
Expr not_empty(const Dim& size);

class IndexEvaluator {
 public:
  /// Adds lets, reduce axes and kReduce statements to the kernel; the statements are flat, operands
  /// first. `buffers` maps PARAM nodes to the kernel's buffers.
  IndexEvaluator(Kernel& kernel, const std::unordered_map<const Node*, int>& buffers)
      : kernel_(kernel), buffers_(buffers) {}

  /// The value of `node` at `index`. Loads only where `guard` holds; elsewhere unspecified.
  KValueRef at(const NodeRef& node, const IndexTuple& index, const Expr& guard = 1);

  struct Position {
    Expr index, in_bounds;  ///< symbols defined by lets
  };
  /// `value` clamped to an index in [0, size), and whether it was in bounds.
  Position position(const KValueRef& value, const Expr& size);

  std::string fresh(const std::string& prefix, int& counter) const;

 private:
  struct Key {
    const Node* node;
    IndexTuple index;
    Expr guard;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  KValueRef evaluate(const NodeRef& node, const IndexTuple& index, const Expr& guard);
  KValueRef param(const NodeRef& node, const Expr& element, const Expr& guard);
  KValueRef view(const NodeRef& node, const IndexTuple& index, const Expr& guard);
  KValueRef reduce(const NodeRef& node, const IndexTuple& index, const Expr& guard);
  Expr named(const Expr& index);
  KValueRef take(const NodeRef& node, const IndexTuple& index, const Expr& guard);

  Kernel& kernel_;
  const std::unordered_map<const Node*, int>& buffers_;
  std::unordered_map<Key, KValueRef, KeyHash> memo_;
  std::unordered_map<Expr, Expr, ExprHash> named_;  ///< large indices to the symbols of their lets
  int next_reduce_ = 0, next_let_ = 0;
};

}  // namespace tenon
