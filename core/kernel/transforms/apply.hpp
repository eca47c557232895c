// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Internal to core/kernel/transforms; transform.hpp is the interface.
#pragma once

#include "core/kernel/transforms/transform.hpp"

namespace tenon {

using Refused = std::optional<Refusal>;

/// A transform to apply. Its axes have loops, and are unbound where the table asks for that.
struct TransformStep {
  Kernel& kernel;
  const Transform& any;

  Refused refuse(std::string_view expected, std::string_view got) const;
  /// Refuses an axis that is bound or multi-buffered.
  Refused check_free(int axis) const;
};

template <template <class> class Name>
struct StepOf : TransformStep {
  const Name<int>& transform;
};

int split_axis(Kernel& kernel, int axis, int64_t factor);  ///< returns the inner axis

#define TN_TRANSFORM(Name, word, ...) Refused apply_##word(const StepOf<transforms::Name>& step);
#include "core/kernel/transforms/transforms.def"

}  // namespace tenon
