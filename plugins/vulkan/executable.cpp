// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GLSL by the sdk's printer, SPIR-V by shaderc, a pipeline by the driver.
#include "plugins/vulkan/executable.hpp"

#include <shaderc/shaderc.h>

#include <cstring>

#include "plugins/vulkan/device.hpp"
#include "sdk/helpers/saved_executable.hpp"
#include "sdk/helpers/verify_program.hpp"
#include "sdk/render/glsl_dialect.hpp"

namespace tenon::vulkan {
namespace {

constexpr VkPipelineShaderStageCreateFlags kFullSubgroups =
    VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;

std::string render(const sdk::ProgramView& program, const TargetSpec& target) {
  sdk::GlslOptions options;
  options.preserves_specials = {false, target.specials, target.specials && target.f64};
  options.preserves_denormals = {false, target.denormals, target.denormals && target.f64};
  options.rounds_to_even = {false, target.rounding, target.rounding && target.f64};
  options.keeps_loops = target.is_software;
  return sdk::print_glsl(program, options);
}

constexpr int kAnyWorkgroup = 1 << 16;

/// What one of shaderc's functions makes of the source: SPIR-V 1.5, or its text.
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
    throw sdk::Failure(
        TN_ERROR_COMPILE_FAILED,
        fmt::format("glsl: {:.400}", shaderc_result_get_error_message(result.get())));
  return {shaderc_result_get_bytes(result.get()), shaderc_result_get_length(result.get())};
}

std::vector<uint32_t> words_of(VulkanExecutable::Bytes bytes) {
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
  return words;
}

std::string identity(const TargetSpec& target, const VulkanDevice* device) {
  return fmt::format("tenon vulkan {}|{}|{}", TENON_VERSION, target.name(),
                     device ? device->adapter().identity() : "");
}

}  // namespace

VulkanExecutable::VulkanExecutable(sdk::Program program, const TargetSpec& target,
                                   VulkanDevice* device, std::vector<uint32_t> code, Bytes cache)
    : program_(std::move(program)),
      target_(target),
      device_(device),
      code_(std::move(code)),
      signature_(program_.view()),
      bindings_(program_.view()) {
  if (!device_) return;
  device_->require_alive();
  make_layouts();
  make_pipeline(cache);
  device_->check_messages();
}

std::unique_ptr<VulkanExecutable> VulkanExecutable::compile(const sdk::ProgramView& program,
                                                            const TargetSpec& target,
                                                            VulkanDevice* device) {
  const std::string code = translate(shaderc_compile_into_spv, render(program, target));
  return std::unique_ptr<VulkanExecutable>(
      new VulkanExecutable(sdk::Program(program.bytes().data(), program.bytes().size()), target,
                           device, words_of(std::as_bytes(std::span(code))), {}));
}

std::unique_ptr<VulkanExecutable> VulkanExecutable::load(Bytes bytes, const TargetSpec& target,
                                                         VulkanDevice* device) {
  const auto sections = sdk::unpack_saved(bytes, identity(target, device), 3);
  return std::unique_ptr<VulkanExecutable>(new VulkanExecutable(
      sdk::load_program(sections[0]), target, device, words_of(sections[1]), sections[2]));
}

std::vector<std::byte> VulkanExecutable::save() const {
  std::vector<std::byte> cache;
  if (device_) {
    const auto get = device_->vk().GetPipelineCacheData;
    size_t size = 0;
    device_->check(get(device_->handle(), cache_, &size, nullptr), "executable_save");
    cache.resize(size);
    device_->check(get(device_->handle(), cache_, &size, cache.data()), "executable_save");
    cache.resize(size);
  }
  const Bytes sections[] = {program_.view().bytes(), std::as_bytes(std::span(code_)), cache};
  return sdk::pack_saved(identity(target_, device_), sections);
}

std::string VulkanExecutable::text(tn_text_kind kind) const {
  const std::string source = render(program_.view(), target_);
  return kind == TN_TEXT_SOURCE ? source : translate(shaderc_compile_into_spv_assembly, source);
}

void VulkanExecutable::make_layouts() {
  const Functions& vk = device_->vk();
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (uint32_t i = 0; i < bindings_.buffer_count(); ++i)
    bindings.push_back(
        {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
  const VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                            nullptr, 0, bindings_.buffer_count(), bindings.data()};
  device_->make(vk.CreateDescriptorSetLayout, vk.DestroyDescriptorSetLayout, set, set_layout_,
                "compile");
  const VkDescriptorSetLayout sets[] = {set_layout_};
  const VkPushConstantRange scalars{VK_SHADER_STAGE_COMPUTE_BIT, 0, bindings_.scalar_bytes()};
  const uint32_t ranges = scalars.size ? 1 : 0;
  const VkPipelineLayoutCreateInfo info{
      VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, nullptr, 0, 1, sets, ranges, &scalars};
  device_->make(vk.CreatePipelineLayout, vk.DestroyPipelineLayout, info, layout_, "compile");
}

void VulkanExecutable::make_pipeline(Bytes cache) {
  const Functions& vk = device_->vk();
  const VkDevice device = device_->handle();
  const VkPipelineCacheCreateInfo cache_info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, nullptr,
                                             0, cache.size(), cache.data()};
  device_->make(vk.CreatePipelineCache, vk.DestroyPipelineCache, cache_info, cache_, "compile");
  const VkShaderModuleCreateInfo code{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0,
                                      binary_bytes(), code_.data()};
  Owned<VkShaderModule> module;
  device_->make(vk.CreateShaderModule, vk.DestroyShaderModule, code, module, "compile");
  const VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT subgroup{
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT, nullptr,
      program_.view().header().subgroup_size};
  const uint32_t size = subgroup.requiredSubgroupSize;
  const VkPipelineShaderStageCreateInfo stage{
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
      size && device_->adapter().must_set(size) ? &subgroup : nullptr,
      size ? kFullSubgroups : 0,
      VK_SHADER_STAGE_COMPUTE_BIT,
      module,
      "main"};
  const VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, nullptr, 0,
                                         stage, layout_};
  device_->check(vk.CreateComputePipelines(device, cache_, 1, &info, nullptr,
                                           pipeline_.fill(device, vk.DestroyPipeline)),
                 "compile");
}

}  // namespace tenon::vulkan
