// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GLSL to SPIR-V 1.5 as Vulkan 1.2 takes it, by shaderc. Any number of threads at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::sdk {

/// The words of a module whose entry point is main, from a compute shader. Throws
/// TN_ERROR_COMPILE_FAILED with the compiler's words.
std::vector<uint32_t> compile_glsl(const std::string& source);
/// The same module as assembly for people.
std::string assemble_glsl(const std::string& source);

}  // namespace tenon::sdk
