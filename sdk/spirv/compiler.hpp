// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GLSL to SPIR-V 1.5 as Vulkan 1.2 takes it, by shaderc. Any number of threads at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenon::sdk {

/// The words of a module whose entry point is main, from a compute shader. Throws
/// TN_ERROR_COMPILE_FAILED with the compiler's words.
std::vector<uint32_t> compile_glsl(const std::string& source);
/// A module as assembly for people. Throws TN_ERROR_UNSUPPORTED where it is newer than SPIRV-Tools.
std::string disassemble(std::span<const uint32_t> words);

}  // namespace tenon::sdk
