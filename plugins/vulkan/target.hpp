// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What code is generated for, with or without a device, and what such a target can do.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/vulkan/adapter.hpp"
#include "sdk/helpers/program_view.hpp"
#include "sdk/helpers/property_table.hpp"

namespace tenon::vulkan {

struct TargetSpec {
  bool i8 = false, i16 = false;  ///< integers of these widths, in buffers too
  bool i64 = false, f64 = false;
  bool specials = false;     ///< NaN, infinities and the sign of zeros are kept
  bool denormals = false;    ///< kept
  bool rounding = false;     ///< to nearest even
  bool is_software = false;  ///< the driver computes on the host's processor
  uint32_t subgroup = 0;     ///< threads; 0 without subgroup operations
  /// As "spirv1.5+i8+i16+f64+subgroup8".
  std::string name() const;
};

TargetSpec target_of(const Adapter& adapter);
/// "vulkan1.2" has all but subgroups, "spirv1.5" nothing that is optional.
std::optional<TargetSpec> find_target(std::string_view name);

/// With the limits that Vulkan 1.2 requires of every device.
std::unique_ptr<sdk::PropertyTable> target_properties(const TargetSpec& target);
/// `spaces` are memory types; if `staged` the host does not see the first.
std::unique_ptr<sdk::PropertyTable> device_properties(const Adapter& adapter,
                                                      const TargetSpec& target, uint64_t alignment,
                                                      const std::vector<uint32_t>& spaces,
                                                      bool staged);
/// Empty, or why a program within the properties cannot be compiled. `adapter` may be null.
std::string unsupported(const sdk::ProgramView& program, const Adapter* adapter);

}  // namespace tenon::vulkan
