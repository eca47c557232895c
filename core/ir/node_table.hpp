// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The live nodes of a Builder by hash. Private to core/ir.
#pragma once

#include <memory>

#include "core/ir/node.hpp"

namespace tenon {

/// Thread-safe. Nodes may outlive the table; each removes itself when destroyed.
class NodeTable {
 public:
  NodeTable();
  /// The live node equal to this one, or a new one.
  NodeRef intern(Node node);
  /// Whether the table has this very node.
  bool holds(const Node& node) const;
  size_t size() const;

 private:
  struct State;
  struct Interned;
  std::shared_ptr<State> state_;
};

}  // namespace tenon
