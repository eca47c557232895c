// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What code is generated for, with or without a device: its name lists what may be used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::vulkan {

struct Adapter;

struct TargetSpec {
  bool i8 = false, i16 = false;  ///< integers of these widths, in buffers too
  bool i64 = false, f64 = false;
  bool specials = false;   ///< NaN, infinities and the sign of zeros are kept
  bool denormals = false;  ///< kept
  bool rounding = false;   ///< to nearest even
  uint32_t subgroup = 0;   ///< threads; 0 without subgroup operations
  /// As "spirv1.5+i8+i16+f64+subgroup8".
  std::string name() const;
};

TargetSpec target_of(const Adapter& adapter);
/// A name as above in any order, or "vulkan1.2": all but subgroups.
std::optional<TargetSpec> find_target(std::string_view name);

}  // namespace tenon::vulkan
