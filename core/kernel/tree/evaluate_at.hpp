// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The value of a node at an index, as a DAG of leaves; reductions met on the way are listed.
#pragma once

#include <unordered_map>

#include "core/kernel/tree/index_map.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// Guards what a loop of at most one iteration loads: its symbol is always 0 and so vanishes from
/// indices, which then look valid without the loop. 1 for all other sizes.
Expr not_empty(const Dim& size);

class IndexEvaluator {
 public:
  /// Adds lets, reduce axes and (flat, in order of need) kReduce statements to the kernel.
  /// `buffers` maps PARAM nodes to the kernel's buffers.
  IndexEvaluator(Kernel& kernel, const std::unordered_map<const Node*, int>& buffers)
      : kernel_(kernel), buffers_(buffers) {}

  /// Loads happen only where `guard` holds; elsewhere the value is unspecified.
  KValueRef at(const NodeRef& node, const IndexTuple& index, const Expr& guard = 1);

  struct Position {
    Expr index, inside;  ///< symbols defined by lets
  };
  /// The number `value` as an index in [0, size), and whether it was in there.
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
  std::unordered_map<Expr, Expr, ExprHash> named_;  ///< the symbols of lets of indices
  int next_reduce_ = 0, next_let_ = 0;
};

}  // namespace tenon
