// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One compiler for all threads: shaderc allows it.
#include "plugins/vulkan/compiler.hpp"

#include <fmt/format.h>
#include <shaderc/shaderc.h>

#include <cstring>
#include <memory>

#include "sdk/helpers/failure.hpp"
#include "sdk/render/glsl_dialect.hpp"

namespace tenon::vulkan {
namespace {

using Result = std::unique_ptr<shaderc_compilation_result, decltype(&shaderc_result_release)>;

Result run(decltype(&shaderc_compile_into_spv) compile, const std::string& source) {
  static const shaderc_compiler_t kCompiler = shaderc_compiler_initialize();
  static const shaderc_compile_options_t kOptions = [] {
    const shaderc_compile_options_t options = shaderc_compile_options_initialize();
    shaderc_compile_options_set_target_env(options, shaderc_target_env_vulkan,
                                           shaderc_env_version_vulkan_1_2);
    shaderc_compile_options_set_target_spirv(options, shaderc_spirv_version_1_5);
    return options;
  }();
  Result result(compile(kCompiler, source.data(), source.size(), shaderc_compute_shader, "kernel",
                        "main", kOptions),
                shaderc_result_release);
  if (!result) throw std::bad_alloc();
  if (shaderc_result_get_compilation_status(result.get()) != shaderc_compilation_status_success)
    throw sdk::Failure(
        TN_ERROR_COMPILE_FAILED,
        fmt::format("glsl: {:.400}", shaderc_result_get_error_message(result.get())));
  return result;
}

}  // namespace

std::string render_source(const sdk::ProgramView& program, const TargetSpec& target) {
  sdk::GlslOptions options;
  options.preserves_specials = {false, target.specials, target.specials && target.f64};
  options.preserves_denormals = {false, target.denormals, target.denormals && target.f64};
  options.rounds_to_even = {false, target.rounding, target.rounding && target.f64};
  return sdk::print_glsl(program, options);
}

std::vector<uint32_t> compile_source(const std::string& source) {
  const Result result = run(shaderc_compile_into_spv, source);
  std::vector<uint32_t> code(shaderc_result_get_length(result.get()) / sizeof(uint32_t));
  std::memcpy(code.data(), shaderc_result_get_bytes(result.get()), code.size() * sizeof(uint32_t));
  return code;
}

std::string assemble_source(const std::string& source) {
  const Result result = run(shaderc_compile_into_spv_assembly, source);
  return {shaderc_result_get_bytes(result.get()), shaderc_result_get_length(result.get())};
}

}  // namespace tenon::vulkan
