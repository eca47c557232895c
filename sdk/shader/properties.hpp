// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the shading languages of sdk/render have in common, as capabilities.
#pragma once

#include <memory>

#include "sdk/backend/property_table.hpp"

namespace tenon::sdk {

/// Vectors and workgroups, 32-bit indices, words in vectors of four, and
/// the accuracy that their functions have; of a software device also the host's processors. A
/// backend adds the ops of its language, flags, dtypes, atomics, memory, limits and what else it
/// has.
std::unique_ptr<PropertyTable> shader_properties(bool is_software);

/// Iterations after which Mesa's llvmpipe, lavapipe's other name, ends all loops of a thread
/// (LP_MAX_TGSI_LOOP_ITERATIONS in lp_bld_limits.h): 22.3.6 does, 25.0.7 and 26.2.6 do not
/// (docs/found/lavapipe_long_loop.comp).
inline constexpr uint32_t kLlvmpipeLoopTrips = 65535;

}  // namespace tenon::sdk
