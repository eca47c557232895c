// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What computing a lazy tensor takes.
#pragma once

#include <cstdint>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

struct Cost {
  /// Of each group, and at the end of what needs none of them: 1 for each element of a result of
  /// arithmetic on floats (2 for a fused multiply-add), and for each that a reduction reads. What
  /// moves, casts, compares or selects is free; a loop is not looked into.
  std::vector<double> flops;
  int64_t kernels = 0;  ///< launches of its plan, which is made and run for this
};

/// `groups`: tensors with values, as those of the layers of a model. An op in which one of them
/// meets other data belongs to its group; what follows, as an activation, to the last of the groups
/// that have come in so. Throws kInvalid for symbolic sizes.
TENON_API Cost cost(const Tensor& x, const std::vector<std::vector<Tensor>>& groups = {});

}  // namespace tenon
