// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The powers of a softmax in a graph: exp((x - m) * scale), m being the maximum of x.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/node.hpp"

namespace tenon {

struct SoftmaxPower {
  const Node* x = nullptr;           ///< what the maximum is taken of
  const Node* maximum = nullptr;     ///< REDUCE.MAX of x
  const Node* repeated = nullptr;    ///< the maximum as it is subtracted: behind views
  std::vector<const Node*> factors;  ///< of the difference
};

/// Nothing where the node is no such EXP or EXP2.
std::optional<SoftmaxPower> softmax_power(const Node& node);

}  // namespace tenon
