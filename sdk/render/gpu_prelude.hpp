// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helper functions of GPU sources. Only those that a kernel uses are printed, as long sources
// compile slowly.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tenon::sdk {

/// The definition of `name`, which begins with tn_. Where the name ends in "_{}" the row stands for
/// a family, one function for each dtype, and in its text
///   {n} is the dtype, {t} its type, {u} the unsigned type that computes it (at least 32 bits),
///   {bits} its bits, {least} and {most} its range if it is an integer.
/// "_{f}": one for each narrow float, in whose text {sign} {m} {bias} {most} {over} {nan} are those
/// of its NarrowFormat.
struct GpuHelper {
  std::string_view name;
  std::string_view text;
};

/// Helpers shared by CUDA and HIP.
std::span<const GpuHelper> common_gpu_helpers();

/// The helpers that `kernel` uses, directly or indirectly, ordered by dependency. A row of `own`
/// overrides one of the common table with the same name.
std::string used_gpu_helpers(std::string_view kernel, std::span<const GpuHelper> own);

}  // namespace tenon::sdk
