// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What GLSL has no words for, put into the words that shaderc makes.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::sdk {

/// An execution mode of several widths becomes one of each: glslang keeps one of each name. The
/// numbers in the type of a cooperative matrix become ids: the first, of a tn_dtype, that of the
/// type, the others those of constants.
std::vector<uint32_t> completed(const std::vector<uint32_t>& module);

}  // namespace tenon::sdk
