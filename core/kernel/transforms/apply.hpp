// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files that apply transforms share; transform.hpp is for everyone else.
#pragma once

#include "core/kernel/transforms/transform.hpp"

namespace tenon {

using Refused = std::optional<Refusal>;

struct TransformStep {
  Kernel& kernel;
  const Transform& transform;
  std::vector<int> axes;  ///< that it names: each has a loop, and is free where it must be

  Refused refuse(std::string_view expected, std::string_view got) const;
  const KernelAxis& axis(size_t i) const { return kernel.axes[axes[i]]; }
  /// Of an axis that must not be bound.
  Refused check_free(int axis) const;
};

int split_axis(Kernel& kernel, int axis, int64_t factor);  ///< gives the inner axis

#define TN_TRANSFORM(name, word, ...) Refused apply_##word(const TransformStep& step);
#include "core/kernel/transforms/transforms.def"

}  // namespace tenon
