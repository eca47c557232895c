// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that one pass over memory limits, on data larger than the cache, each with plain loops
// that say what is right.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/ir/build.hpp"

namespace tenon::bench {

inline constexpr int64_t kPassRows = 32768, kPassColumns = 1024;  // 128 MiB in, 128 MiB out
inline constexpr size_t kPassCount = static_cast<size_t>(kPassRows * kPassColumns);
inline constexpr double kPassGigabytes = 2.0 * kPassCount * sizeof(float) * 1e-9;

struct Pass {
  const char* name;
  Graph (*graph)(Builder&);
  void (*plain)(float* y, const float* x);
  double relative;  ///< error that is allowed
};
/// A chain of elementwise ops, and softmax over rows.
std::span<const Pass> passes();

/// Empty if all elements are near enough; else the first that is not.
std::string difference(const std::vector<float>& got, const std::vector<float>& expected,
                       double relative);

}  // namespace tenon::bench
