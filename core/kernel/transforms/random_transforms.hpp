// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random lists of legal transforms. Tests and the fuzzer compare their kernels with the plain one.
#pragma once

#include <cstdint>
#include <functional>

#include "core/kernel/transforms/transform.hpp"

namespace tenon {

struct RandomTransformOptions {
  int steps = 14;                ///< attempts; illegal ones are left out
  bool vectors = false;          ///< allow vectorize
  bool threads = false;          ///< allow block axes, group and cooperative_load
  WrittenTransforms first = {};  ///< tried first
};

/// `below(n)` returns a random number in [0, n). The list depends on nothing else.
Chosen random_transforms(Kernel kernel, const std::function<uint32_t(uint32_t)>& below,
                         const RandomTransformOptions& options);

}  // namespace tenon
