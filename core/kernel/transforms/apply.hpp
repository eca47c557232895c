// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Internal to core/kernel/transforms; transform.hpp is the interface.
#pragma once

#include <variant>
#include <vector>

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

/// Loops between loop A and a reduction, inside which the reduction runs block by block.
struct TileLoops {
  Statement *outer = nullptr, *inner = nullptr;  ///< loop A, and the innermost loop
  std::vector<int> inside;                       ///< axes of the loops below A
};
/// `path` leads to the loop of a reduction over one axis. Refused unless loops alone are around the
/// reduction: parallel, and below A unbound, of constant size and around nothing else.
std::variant<TileLoops, Refusal> find_tile_loops(const TransformStep& step,
                                                 const std::vector<Statement*>& path, int at);

int split_axis(Kernel& kernel, int axis, int64_t factor);  ///< returns the inner axis

#define TN_TRANSFORM(Name, word, ...) Refused apply_##word(const StepOf<transforms::Name>& step);
#include "core/kernel/transforms/transforms.def"

}  // namespace tenon
