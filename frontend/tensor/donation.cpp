// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/tensor/donation.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/support/error.hpp"
#include "frontend/tensor/sizes.hpp"

namespace tenon {

Donation::Donation(Context& context, std::string call, const std::vector<Tensor>& inputs,
                   std::vector<bool> gives)
    : call_(std::move(call)), inputs_(inputs), gives_(std::move(gives)) {
  context.impl().values.forget_dead();
  // A copy to another device that is under way owns its source too.
  for (size_t i = 0; i < inputs.size(); ++i)
    if (gives_[i]) buffer_of(*node_of(inputs[i]))->wait_for_readers();
  separate(context);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (gives_[i]) check(i);
}

void Donation::spend(bool all) noexcept {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!gives_[i]) continue;
    Tensor::State& state = *inputs_[i].state();
    if (!all && !buffer_of(*state.node)->is_spent()) continue;
    gives_[i] = false;
    state.given_to = call_;
    state.node = nullptr;
  }
}

/// Equal tensors, as two of zeros, are one buffer: where they are inputs of one call, and nothing
/// else holds it, those that are donated get one each.
void Donation::separate(Context& context) {
  std::map<const Buffer*, std::set<Tensor::State*>> holders;
  std::map<const Buffer*, std::set<const Node*>> nodes;
  for (const Tensor& x : inputs_) {
    if (is_number(x)) continue;
    const Buffer* const buffer = buffer_of(*node_of(x)).get();
    holders[buffer].insert(x.state().get());
    nodes[buffer].insert(node_of(x).get());
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!gives_[i]) continue;
    Tensor::State& state = *inputs_[i].state();
    const Buffer* const shared = buffer_of(*state.node).get();
    if (holders[shared].size() < 2 || !holders[shared].contains(&state)) continue;
    long held = 0;
    for (const Tensor::State* one : holders[shared]) held += one->node.use_count();
    long expected = 0;  // each node is counted by every state that holds it
    for (const Node* node : nodes[shared]) {
      const auto by = std::ranges::count_if(
          holders[shared], [&](const auto* one) { return one->node.get() == node; });
      expected += by * by;
    }
    const long owners = owners_of_memory(*state.node);
    if (held != expected || owners != static_cast<long>(nodes[shared].size())) continue;
    const BufferRef from = buffer_of(*state.node);
    BufferRef to = from->device().allocate(from->size(), "donated");
    if (from->size() > 0) from->device().copy(*from, 0, *to, 0, from->size());
    holders[shared].erase(&state);
    state.node = buffer_node(context, std::move(to), state.node->dtype, state.node->shape,
                             symbols_of(*state.node));
    nodes[shared].clear();
    for (const Tensor::State* one : holders[shared]) nodes[shared].insert(one->node.get());
  }
}

/// Throws unless nothing but the caller's handle holds the value.
void Donation::check(size_t i) const {
  const Tensor& x = inputs_[i];
  for (size_t j = 0; j < inputs_.size(); ++j)
    TN_REQUIRE(j == i || inputs_[j].state() != x.state(),
               "[{}] expected a donated input once, got inputs {} and {} that are one tensor",
               call_, std::min(i, j), std::max(i, j));
  const NodeRef& node = node_of(x);
  TN_REQUIRE(
      node.use_count() == 1 && owners_of_memory(*node) == 1,
      "[{}] expected a donated input that nothing else needs, got input {} ({}), which other "
      "tensors are made from or share; realize them, or let them go",
      call_, i, type_string(*node));
}

}  // namespace tenon
