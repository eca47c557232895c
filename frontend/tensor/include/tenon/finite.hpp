// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which op of a lazy tensor first gave what is no finite number.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

struct NotFinite {
  std::string op;       ///< "ln" as in docs/ir.md; "input" and "constant" of what was so before
  std::string type;     ///< of its result, "f32[64, 10]"
  std::string within;   ///< composites around it, the inner first: "softmax in attention"
  std::string input;    ///< of an input, its name if it was given one
  bool is_nan = false;  ///< else it is infinite
};

/// Of a tensor with a NaN, the op that gave one though its operands have none; if one of those is
/// infinite, also the op that made it so. Of one with an infinity, the op that gave that. Of others
/// nothing. What a loop or a branch has inside is not told apart. `inputs`: tensors with values, by
/// names. The graph is run some ten times, so this is for finding faults.
TENON_API std::vector<NotFinite> first_not_finite(
    const Tensor& x, const std::vector<std::pair<std::string, Tensor>>& inputs = {});

/// "'recip' gave an infinity: f32[64, 10], within softmax".
TENON_API std::string to_string(const NotFinite& found);

}  // namespace tenon
