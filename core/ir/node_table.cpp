// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/node_table.hpp"

#include <unordered_map>
#include <vector>

#include "core/ir/node_hash.hpp"
#include "core/support/process.hpp"

namespace tenon {

struct NodeTable::State {
  struct Entry {
    const Node* node;
    std::weak_ptr<const Node> alive;
  };
  ForkSafeMutex mutex;  ///< nodes of the parent die in a child too
  std::unordered_multimap<uint64_t, Entry> entries;

  void remove(const Node* node) {
    const std::lock_guard lock(mutex);
    const auto [begin, end] = entries.equal_range(node->hash);
    for (auto it = begin; it != end; ++it) {
      if (it->second.node == node) {
        entries.erase(it);
        return;
      }
    }
  }
};

namespace {

/// A node's last owner may be another node, a million deep: deletions queue up instead of nesting.
void delete_later(const Node* node) {
  // A bare pointer: nodes of static tensors die after a thread-local vector would have.
  thread_local std::vector<const Node*>* queue = nullptr;
  if (queue != nullptr) {
    queue->push_back(node);
    return;
  }
  std::vector<const Node*> pending{node};
  queue = &pending;
  while (!pending.empty()) {
    const Node* next = pending.back();
    pending.pop_back();
    delete next;
  }
  queue = nullptr;
}

}  // namespace

struct NodeTable::Deleter {
  std::shared_ptr<State> state;
  void operator()(const Node* node) const {
    state->remove(node);
    delete_later(node);
  }
};

NodeTable::NodeTable() : state_(std::make_shared<State>()) {}

NodeRef NodeTable::intern(Node node) {
  node.hash = hash_node(node);
  const uint64_t hash = node.hash;
  // Made before the lock and dropped after it: a deleter takes the lock too.
  const NodeRef fresh(new const Node(std::move(node)), Deleter{state_});
  NodeRef found;
  const std::lock_guard lock(state_->mutex);
  const auto [begin, end] = state_->entries.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    // An entry's node is there until its deleter has taken the entry out, so it may be read.
    if (!equal_node(*it->second.node, *fresh)) continue;
    found = it->second.alive.lock();
    if (found) return found;
  }
  state_->entries.emplace(hash, State::Entry{fresh.get(), fresh});
  return fresh;
}

size_t NodeTable::size() const {
  const std::lock_guard lock(state_->mutex);
  return state_->entries.size();
}

}  // namespace tenon
