// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/node_table.hpp"

#include <algorithm>
#include <vector>

#include "core/ir/node_hash.hpp"
#include "core/support/process.hpp"

namespace tenon {
namespace {

/// Releases nodes one after another, without recursion: a node may own a chain of a million nodes.
void release_iteratively(std::vector<NodeRef> nodes) {
  // A raw pointer: nodes of static tensors may be destroyed after a thread-local vector.
  thread_local std::vector<NodeRef>* queue = nullptr;
  if (queue != nullptr) {
    queue->insert(queue->end(), std::move_iterator(nodes.begin()), std::move_iterator(nodes.end()));
    return;
  }
  queue = &nodes;
  while (!nodes.empty()) {
    const NodeRef next = std::move(nodes.back());
    nodes.pop_back();
  }
  queue = nullptr;
}

}  // namespace

/// A node that removes itself from its table when destroyed.
struct NodeTable::Interned : Node, std::enable_shared_from_this<Interned> {
  Interned(Node node, std::shared_ptr<State> table)
      : Node(std::move(node)), table(std::move(table)) {}
  ~Interned();
  Interned(const Interned&) = delete;
  Interned& operator=(const Interned&) = delete;

  std::shared_ptr<State> table;
};

/// Open addressing with linear probing.
struct NodeTable::State {
  struct Slot {
    uint64_t hash = 0;
    Interned* node = nullptr;
  };
  ForkSafeMutex mutex;  ///< a child of fork destroys nodes of its parent too
  std::vector<Slot> slots = std::vector<Slot>(64);
  size_t size = 0;

  size_t after(size_t place) const { return (place + 1) & (slots.size() - 1); }
  size_t home(uint64_t hash) const { return hash & (slots.size() - 1); }

  void make_room() {
    if (4 * (size + 1) <= 3 * slots.size()) return;
    std::vector<Slot> old(2 * slots.size());
    old.swap(slots);
    for (const Slot& slot : old)
      if (slot.node) put(slot);
  }

  void put(const Slot& slot) {
    size_t place = home(slot.hash);
    while (slots[place].node) place = after(place);
    slots[place] = slot;
  }

  void remove(const Interned* node) {
    const std::lock_guard lock(mutex);
    size_t hole = home(node->hash);
    while (slots[hole].node != node) hole = after(hole);
    // Shifts back displaced entries, unless the hole is before their home slot.
    for (size_t place = after(hole); slots[place].node; place = after(place)) {
      const size_t mask = slots.size() - 1;
      if (((place - home(slots[place].hash)) & mask) < ((place - hole) & mask)) continue;
      slots[hole] = slots[place];
      hole = place;
    }
    slots[hole] = {};
    --size;
  }
};

NodeTable::Interned::~Interned() {
  table->remove(this);
  release_iteratively(std::move(sources));
}

NodeTable::NodeTable() : state_(std::make_shared<State>()) {}

NodeRef NodeTable::intern(Node node) {
  node.hash = hash_node(node);
  State& table = *state_;
  const std::lock_guard lock(table.mutex);
  for (size_t at = table.home(node.hash); table.slots[at].node; at = table.after(at)) {
    const State::Slot& slot = table.slots[at];
    // A node is readable until it has left the table. It may be in destruction, which lock()
    // detects. Never a weak pointer to const: converting one owns the node for a moment, and the
    // last owner takes the lock.
    if (slot.hash != node.hash || !equal_node(*slot.node, node)) continue;
    if (NodeRef found = slot.node->weak_from_this().lock()) return found;
  }
  table.make_room();  // before the node exists, as the destructor of a node takes the lock
  auto fresh = std::make_shared<Interned>(std::move(node), state_);
  table.put({fresh->hash, fresh.get()});
  ++table.size;
  return fresh;
}

bool NodeTable::holds(const Node& node) const {
  State& table = *state_;
  const std::lock_guard lock(table.mutex);
  for (size_t at = table.home(node.hash); table.slots[at].node; at = table.after(at))
    if (table.slots[at].node == &node) return true;
  return false;
}

size_t NodeTable::size() const {
  const std::lock_guard lock(state_->mutex);
  return state_->size;
}

}  // namespace tenon
