// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/tensor/growth.hpp"

#include <fmt/format.h>

namespace tenon {

std::string Growth::note(size_t outputs, size_t nodes) {
  const std::lock_guard lock(mutex_);
  const bool grows = outputs == outputs_ && nodes > nodes_;
  if (!grows) {
    first_ = nodes;
    steps_ = 0;
  }
  outputs_ = outputs;
  nodes_ = nodes;
  if (!grows || ++steps_ < kMany || nodes < kLarge || said_) return "";
  said_ = true;
  return fmt::format(
      "the graph that is realised grows from step to step, from {} to {} nodes in {} steps: "
      "something is carried from one to the next without being computed, and each step has a plan "
      "of its own. Realize it too, or compile() the step",
      first_, nodes, steps_);
}

}  // namespace tenon
