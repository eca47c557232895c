// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/spirv/compiler.hpp"

#include <fmt/format.h>
#include <shaderc/shaderc.h>
#include <spirv-tools/libspirv.h>

#include <cstring>
#include <memory>
#include <new>

#include "sdk/spirv/module.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

constexpr int kAnyWorkgroup = 1 << 16;

/// Options of shaderc, shared by all threads, which shaderc allows.
shaderc_compile_options_t options() {
  static const shaderc_compile_options_t kOptions = [] {
    const shaderc_compile_options_t made = shaderc_compile_options_initialize();
    shaderc_compile_options_set_target_env(made, shaderc_target_env_vulkan,
                                           shaderc_env_version_vulkan_1_2);
    shaderc_compile_options_set_target_spirv(made, shaderc_spirv_version_1_5);
    // The limits of the device apply, not the defaults of shaderc.
    for (const shaderc_limit axis :
         {shaderc_limit_max_compute_work_group_size_x, shaderc_limit_max_compute_work_group_size_y,
          shaderc_limit_max_compute_work_group_size_z})
      shaderc_compile_options_set_limit(made, axis, kAnyWorkgroup);
    return made;
  }();
  return kOptions;
}

}  // namespace

std::vector<uint32_t> compile_glsl(const std::string& source) {
  static const shaderc_compiler_t kCompiler = shaderc_compiler_initialize();
  const std::unique_ptr<shaderc_compilation_result, decltype(&shaderc_result_release)> result(
      shaderc_compile_into_spv(kCompiler, source.data(), source.size(), shaderc_compute_shader,
                               "kernel", "main", options()),
      shaderc_result_release);
  if (!result) throw std::bad_alloc();
  if (shaderc_result_get_compilation_status(result.get()) != shaderc_compilation_status_success)
    throw Failure(TN_ERROR_COMPILE_FAILED,
                  fmt::format("glsl: {:.400}", shaderc_result_get_error_message(result.get())));
  std::vector<uint32_t> words(shaderc_result_get_length(result.get()) / sizeof(uint32_t));
  std::memcpy(words.data(), shaderc_result_get_bytes(result.get()),
              words.size() * sizeof(uint32_t));
  return completed(words);
}

std::string disassemble(std::span<const uint32_t> words) {
  const std::unique_ptr<spv_context_t, decltype(&spvContextDestroy)> context(
      spvContextCreate(SPV_ENV_UNIVERSAL_1_5), spvContextDestroy);
  spv_text text = nullptr;
  spv_diagnostic why = nullptr;
  constexpr uint32_t kOptions =
      SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES;
  spvBinaryToText(context.get(), words.data(), words.size(), kOptions, &text, &why);
  const std::unique_ptr<spv_text_t, decltype(&spvTextDestroy)> owned(text, spvTextDestroy);
  const std::unique_ptr<spv_diagnostic_t, decltype(&spvDiagnosticDestroy)> reason(
      why, spvDiagnosticDestroy);
  if (!text)
    throw Failure(TN_ERROR_UNSUPPORTED,
                  fmt::format("spirv-tools: {}", why ? why->error : "has no words for the module"));
  return {text->str, text->length};
}

}  // namespace tenon::sdk
