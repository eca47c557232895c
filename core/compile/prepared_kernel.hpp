// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel before its transforms are chosen, made once for all choosers.
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
  Graph legal;       ///< legalised for the device
  Kernel tree;
  /// The templates' choice for the device; null if they were not asked.
  std::shared_ptr<const Chosen> chosen;
};

/// Kernels that the scheduler asked for, to be reused when the schedule is compiled.
struct PreparedKernels {
  /// Device, params and outputs of a canonical kernel without aliases or sections. A Builder makes
  /// equal nodes the same, so equal kernels have equal keys.
  using Key = std::tuple<int, std::vector<NodeRef>, std::vector<NodeRef>>;
  std::map<Key, std::shared_ptr<const PreparedKernel>> kernels;  ///< null: not to be fused

  std::shared_ptr<const PreparedKernel> find(int device, const Graph& canonical) const {
    const auto at = kernels.find(Key(device, canonical.params, canonical.outputs));
    return at == kernels.end() ? nullptr : at->second;
  }
};

}  // namespace tenon
