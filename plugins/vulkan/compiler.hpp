// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GLSL by the sdk's printer, SPIR-V by shaderc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/vulkan/target.hpp"
#include "sdk/helpers/program_view.hpp"

namespace tenon::vulkan {

std::string render_source(const sdk::ProgramView& program, const TargetSpec& target);
/// SPIR-V 1.5. Throws TN_ERROR_COMPILE_FAILED with the compiler's first lines.
std::vector<uint32_t> compile_source(const std::string& source);
/// The same as text.
std::string assemble_source(const std::string& source);

}  // namespace tenon::vulkan
