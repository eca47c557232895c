// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls shaderc.
#include "sdk/spirv/compiler.hpp"

#include <fmt/format.h>
#include <shaderc/shaderc.h>

#include <cstring>
#include <memory>
#include <new>

#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

constexpr int kAnyWorkgroup = 1 << 16;

/// What one of shaderc's functions makes of the source.
std::string translate(decltype(&shaderc_compile_into_spv) function, const std::string& source) {
  // One compiler for all threads: shaderc allows it.
  static const shaderc_compiler_t kCompiler = shaderc_compiler_initialize();
  static const shaderc_compile_options_t kOptions = [] {
    const shaderc_compile_options_t options = shaderc_compile_options_initialize();
    shaderc_compile_options_set_target_env(options, shaderc_target_env_vulkan,
                                           shaderc_env_version_vulkan_1_2);
    shaderc_compile_options_set_target_spirv(options, shaderc_spirv_version_1_5);
    // The device's limits hold, not those that shaderc takes for usual.
    for (const shaderc_limit axis :
         {shaderc_limit_max_compute_work_group_size_x, shaderc_limit_max_compute_work_group_size_y,
          shaderc_limit_max_compute_work_group_size_z})
      shaderc_compile_options_set_limit(options, axis, kAnyWorkgroup);
    return options;
  }();
  const std::unique_ptr<shaderc_compilation_result, decltype(&shaderc_result_release)> result(
      function(kCompiler, source.data(), source.size(), shaderc_compute_shader, "kernel", "main",
               kOptions),
      shaderc_result_release);
  if (!result) throw std::bad_alloc();
  if (shaderc_result_get_compilation_status(result.get()) != shaderc_compilation_status_success)
    throw Failure(TN_ERROR_COMPILE_FAILED,
                  fmt::format("glsl: {:.400}", shaderc_result_get_error_message(result.get())));
  return {shaderc_result_get_bytes(result.get()), shaderc_result_get_length(result.get())};
}

}  // namespace

std::vector<uint32_t> compile_glsl(const std::string& source) {
  const std::string bytes = translate(shaderc_compile_into_spv, source);
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
  return words;
}

std::string assemble_glsl(const std::string& source) {
  return translate(shaderc_compile_into_spv_assembly, source);
}

}  // namespace tenon::sdk
