// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles GLSL to SPIR-V 1.5 for Vulkan 1.2 with shaderc. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenon::sdk {

/// Compiles a compute shader to a module with entry point main. Throws TN_ERROR_COMPILE_FAILED with
/// the message of the compiler.
std::vector<uint32_t> compile_glsl(const std::string& source);
/// Disassembles a module. Throws TN_ERROR_UNSUPPORTED if it is newer than SPIRV-Tools.
std::string disassemble(std::span<const uint32_t> words);

}  // namespace tenon::sdk
