// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compile target and the properties of a device.
#pragma once

#include <memory>
#include <vector>

#include "plugins/vulkan/adapter.hpp"
#include "sdk/spirv/target.hpp"

namespace tenon::vulkan {

sdk::SpirvTarget target_of(const Adapter& adapter);
/// `spaces` are memory types. `staged`: the host does not see the first.
std::unique_ptr<sdk::PropertyTable> device_properties(const Adapter& adapter,
                                                      const sdk::SpirvTarget& target,
                                                      const std::vector<uint32_t>& spaces,
                                                      bool staged);
sdk::SpirvLimits limits_of(const Adapter& adapter);

}  // namespace tenon::vulkan
