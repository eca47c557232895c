// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The living nodes of a Builder by their hash. Private to core/ir.
#pragma once

#include <memory>

#include "core/ir/node.hpp"

namespace tenon {

/// Thread-safe. Nodes may outlive the table; each leaves it as it dies.
class NodeTable {
 public:
  NodeTable();
  /// The living node equal to this one, or a new one.
  NodeRef intern(Node node);
  /// Whether this very node is one of the table.
  bool holds(const Node& node) const;
  size_t size() const;

 private:
  struct State;
  struct Interned;
  std::shared_ptr<State> state_;
};

}  // namespace tenon
