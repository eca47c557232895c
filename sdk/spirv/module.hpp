// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adds to a module of shaderc what GLSL cannot express.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::sdk {

/// Splits an execution mode with several widths, as glslang keeps only one of each name. Replaces
/// numbers in a cooperative matrix type by ids: the first, a tn_dtype, by that of the type, others
/// by those of constants.
std::vector<uint32_t> completed(const std::vector<uint32_t>& module);

}  // namespace tenon::sdk
