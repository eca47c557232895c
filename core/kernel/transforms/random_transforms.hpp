// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random transform lists, each step legal where it stands: what tests and the fuzzer compare with
// the plain kernel.
#pragma once

#include <cstdint>
#include <functional>

#include "core/kernel/transforms/transform.hpp"

namespace tenon {

struct RandomTransformOptions {
  int steps = 14;                ///< tried; those that are not legal are left out
  bool vectors = false;          ///< vectorize
  bool threads = false;          ///< bind to block axes, group
  WrittenTransforms first = {};  ///< that the list begins with, where they are legal
};

/// `below(n)` gives a random number in [0, n); the list depends on nothing else.
Chosen random_transforms(Kernel kernel, const std::function<uint32_t(uint32_t)>& below,
                         const RandomTransformOptions& options);

}  // namespace tenon
