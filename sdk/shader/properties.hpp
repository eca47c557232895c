// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the shading languages of sdk/render have in common, as capabilities.
#pragma once

#include <memory>

#include "sdk/backend/property_table.hpp"

namespace tenon::sdk {

/// The ops that GLSL and WGSL both have words for, 32-bit indices, words in vectors of four, and
/// the accuracy that their functions have; of a software device also the host's processors. A
/// backend adds flags, dtypes, atomics, memory, limits and what else it has.
std::unique_ptr<PropertyTable> shader_properties(bool is_software);

}  // namespace tenon::sdk
