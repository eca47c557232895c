// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognises the powers of a softmax: exp((x - m) * scale), where m is the maximum of x.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/node.hpp"

namespace tenon {

struct SoftmaxPower {
  const Node* x = nullptr;           ///< operand of the maximum
  const Node* maximum = nullptr;     ///< REDUCE.MAX of x
  const Node* repeated = nullptr;    ///< the maximum as it is subtracted, after views
  std::vector<const Node*> factors;  ///< of the difference
};

/// Empty unless the node is such an EXP or EXP2.
std::optional<SoftmaxPower> softmax_power(const Node& node);

}  // namespace tenon
