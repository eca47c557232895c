// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the SCALAR params of a launch stand in the one block of bytes that shaders read them from:
// push constants in GLSL, a uniform buffer in WGSL.
#pragma once

#include <cstdint>
#include <vector>

#include "sdk/helpers/program_view.hpp"

namespace tenon::sdk {

/// In the order of the params, each aligned to its own size (std430): 64-bit scalars take 8 bytes,
/// all others 4; what is narrower stands zero-extended in its 4 bytes, as in tn_argument::scalar.
struct ScalarLayout {
  std::vector<uint32_t> offsets;  ///< bytes, one for each tn_param; 0 for what is no SCALAR
  uint32_t bytes = 0;             ///< of the whole block, a multiple of 16; 0 if there are none
};

ScalarLayout scalar_layout(const ProgramView& program);

/// Number of BUFFER params: buffer k of them is bound at k, a block of scalars after the last.
uint32_t buffer_count(const ProgramView& program);

}  // namespace tenon::sdk
