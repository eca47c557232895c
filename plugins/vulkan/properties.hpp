// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Capabilities of a device, and of a target that need not be there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugins/vulkan/target.hpp"
#include "sdk/helpers/program_view.hpp"
#include "sdk/helpers/property_table.hpp"

namespace tenon::vulkan {

class VulkanDevice;

/// With the limits that Vulkan 1.2 requires of every device.
std::unique_ptr<sdk::PropertyTable> target_properties(const TargetSpec& target);
/// `spaces` are memory types; if `staged` the host does not see the first.
std::unique_ptr<sdk::PropertyTable> device_properties(const VulkanDevice& device,
                                                      const std::vector<uint32_t>& spaces,
                                                      bool staged);
/// Empty, or why a program within the properties cannot be compiled.
std::string unsupported(const sdk::ProgramView& program, uint32_t push_constant_bytes);

}  // namespace tenon::vulkan
