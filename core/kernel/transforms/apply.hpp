// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files that apply transforms share; transform.hpp is for everyone else.
#pragma once

#include "core/kernel/transforms/transform.hpp"

namespace tenon {

using Refused = std::optional<Refusal>;

/// A transform whose axes have loops, and are free where they must be.
struct TransformStep {
  Kernel& kernel;
  const Transform& any;

  Refused refuse(std::string_view expected, std::string_view got) const;
  /// Of an axis that must not be bound.
  Refused check_free(int axis) const;
};

template <template <class> class Name>
struct StepOf : TransformStep {
  const Name<int>& transform;
};

int split_axis(Kernel& kernel, int axis, int64_t factor);  ///< gives the inner axis

#define TN_TRANSFORM(Name, word, ...) Refused apply_##word(const StepOf<transforms::Name>& step);
#include "core/kernel/transforms/transforms.def"

}  // namespace tenon
