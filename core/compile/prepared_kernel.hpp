// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel half-way: what does not depend on who chooses its transforms, made once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "core/ir/node.hpp"
#include "core/kernel/transforms/transform.hpp"

namespace tenon {

struct PreparedKernel {
  std::string name;  ///< of the program
  Graph legal;       ///< of ops and dtypes that the device has
  Kernel tree;       ///< its loops
  /// What the templates chose for the device as it is, where somebody has asked; else null.
  std::shared_ptr<const Chosen> chosen;
};

/// What the scheduler asked for, so that those who compile the schedule need not make it again.
struct PreparedKernels {
  /// Device, params and outputs of a canonical kernel without aliases or sections. One Builder
  /// makes equal nodes the same, so these are equal where the kernels are.
  using Key = std::tuple<int, std::vector<NodeRef>, std::vector<NodeRef>>;
  std::map<Key, std::shared_ptr<const PreparedKernel>> kernels;  ///< null: not to be fused

  std::shared_ptr<const PreparedKernel> find(int device, const Graph& canonical) const {
    const auto at = kernels.find(Key(device, canonical.params, canonical.outputs));
    return at == kernels.end() ? nullptr : at->second;
  }
};

}  // namespace tenon
