// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Capabilities shared by the shading languages of sdk/render.
#pragma once

#include <memory>

#include "sdk/backend/property_table.hpp"

namespace tenon::sdk {

/// Vectors and workgroups, 32-bit indices, words in vectors of four, and the accuracy of functions;
/// for a software device also the processors of the host. A backend adds its ops, flags, dtypes,
/// atomics, memory and limits.
std::unique_ptr<PropertyTable> shader_properties(bool is_software);

/// Iterations after which Mesa's llvmpipe (lavapipe) ends all loops of a thread
/// (LP_MAX_TGSI_LOOP_ITERATIONS in lp_bld_limits.h): 22.3.6 does, 25.0.7 and 26.2.6 do not
/// (docs/found/lavapipe_long_loop.comp).
inline constexpr uint32_t kLlvmpipeLoopTrips = 65535;

}  // namespace tenon::sdk
