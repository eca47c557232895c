// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From SPIR-V to a pipeline; saving and loading.
#include "plugins/vulkan/executable.hpp"

#include <fmt/format.h>

#include <cstring>

#include "plugins/vulkan/compiler.hpp"
#include "plugins/vulkan/device.hpp"
#include "sdk/helpers/saved_executable.hpp"
#include "sdk/helpers/verify_program.hpp"
#include "sdk/render/scalar_layout.hpp"

namespace tenon::vulkan {
namespace {

constexpr VkPipelineShaderStageCreateFlags kFullSubgroups =
    VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;

std::string identity(const TargetSpec& target, const VulkanDevice* device) {
  return fmt::format("tenon vulkan {}|{}|{}", TENON_VERSION, target.name(),
                     device ? device->adapter().identity() : "");
}

}  // namespace

VulkanExecutable::VulkanExecutable(sdk::Program program, const TargetSpec& target,
                                   VulkanDevice* device, std::vector<uint32_t> code)
    : program_(std::move(program)),
      target_(target),
      device_(device),
      code_(std::move(code)),
      signature_(program_.view()) {
  const sdk::ProgramView view = program_.view();
  const sdk::ScalarLayout layout = sdk::scalar_layout(view);
  scalar_bytes_ = layout.bytes;
  for (uint32_t i = 0; i < view.param_count(); ++i) {
    const tn_param& param = view.param(i);
    if (param.kind == TN_PARAM_ALLOC) continue;
    const bool is_wide = sdk::dtype_bytes(static_cast<uint8_t>(param.dtype)) == 8;
    slots_.push_back(param.kind == TN_PARAM_SCALAR ? Slot{layout.offsets[i], is_wide ? 8u : 4u}
                                                   : Slot{});
  }
}

VulkanExecutable::~VulkanExecutable() {
  if (!device_) return;
  const Functions& vk = device_->vk();
  vk.DestroyPipeline(device_->handle(), pipeline_, nullptr);
  vk.DestroyPipelineCache(device_->handle(), cache_, nullptr);
  vk.DestroyPipelineLayout(device_->handle(), layout_, nullptr);
  vk.DestroyDescriptorSetLayout(device_->handle(), set_layout_, nullptr);
}

std::unique_ptr<VulkanExecutable> VulkanExecutable::make_ready(sdk::Program program,
                                                               const TargetSpec& target,
                                                               VulkanDevice* device,
                                                               std::vector<uint32_t> code,
                                                               std::span<const std::byte> cache) {
  std::unique_ptr<VulkanExecutable> out(
      new VulkanExecutable(std::move(program), target, device, std::move(code)));
  if (!device) return out;
  device->require_alive();
  out->make_layouts();
  out->make_pipeline(cache);
  device->check_messages();
  return out;
}

std::unique_ptr<VulkanExecutable> VulkanExecutable::compile(const sdk::ProgramView& program,
                                                            const TargetSpec& target,
                                                            VulkanDevice* device) {
  const auto bytes = program.bytes();
  return make_ready(sdk::Program(bytes.data(), bytes.size()), target, device,
                    compile_source(render_source(program, target)), {});
}

std::unique_ptr<VulkanExecutable> VulkanExecutable::load(std::span<const std::byte> bytes,
                                                         const TargetSpec& target,
                                                         VulkanDevice* device) {
  const auto sections = sdk::unpack_saved(bytes, identity(target, device), 3);
  std::vector<uint32_t> code(sections[1].size() / sizeof(uint32_t));
  std::memcpy(code.data(), sections[1].data(), code.size() * sizeof(uint32_t));
  return make_ready(sdk::load_program(sections[0]), target, device, std::move(code), sections[2]);
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
  const std::span<const std::byte> sections[] = {program_.view().bytes(),
                                                 std::as_bytes(std::span(code_)), cache};
  return sdk::pack_saved(identity(target_, device_), sections);
}

std::string VulkanExecutable::text(tn_text_kind kind) const {
  const std::string source = render_source(program_.view(), target_);
  return kind == TN_TEXT_SOURCE ? source : assemble_source(source);
}

void VulkanExecutable::make_layouts() {
  const Functions& vk = device_->vk();
  std::vector<VkDescriptorSetLayoutBinding> bindings(sdk::buffer_count(program_.view()));
  for (uint32_t i = 0; i < bindings.size(); ++i)
    bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  const VkDescriptorSetLayoutCreateInfo set{
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = static_cast<uint32_t>(bindings.size()),
      .pBindings = bindings.data()};
  device_->check(vk.CreateDescriptorSetLayout(device_->handle(), &set, nullptr, &set_layout_),
                 "compile");
  const VkPushConstantRange scalars = {VK_SHADER_STAGE_COMPUTE_BIT, 0, scalar_bytes_};
  const VkPipelineLayoutCreateInfo info{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                        .setLayoutCount = 1,
                                        .pSetLayouts = &set_layout_,
                                        .pushConstantRangeCount = scalar_bytes_ ? 1u : 0u,
                                        .pPushConstantRanges = &scalars};
  device_->check(vk.CreatePipelineLayout(device_->handle(), &info, nullptr, &layout_), "compile");
}

void VulkanExecutable::make_pipeline(std::span<const std::byte> cache) {
  const Functions& vk = device_->vk();
  const VkPipelineCacheCreateInfo cache_info{.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                             .initialDataSize = cache.size(),
                                             .pInitialData = cache.data()};
  device_->check(vk.CreatePipelineCache(device_->handle(), &cache_info, nullptr, &cache_),
                 "compile");
  const VkShaderModuleCreateInfo code{.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                      .codeSize = binary_bytes(),
                                      .pCode = code_.data()};
  const VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT subgroup{
      .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT,
      .requiredSubgroupSize = program_.view().header().subgroup_size};
  const bool is_sized = subgroup.requiredSubgroupSize && device_->sets_subgroup_size();
  VkComputePipelineCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .pNext = is_sized ? &subgroup : nullptr,
                .flags = is_sized ? kFullSubgroups : VkPipelineShaderStageCreateFlags{},
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .pName = "main"},
      .layout = layout_};
  device_->check(vk.CreateShaderModule(device_->handle(), &code, nullptr, &info.stage.module),
                 "compile");
  const VkResult result =
      vk.CreateComputePipelines(device_->handle(), cache_, 1, &info, nullptr, &pipeline_);
  vk.DestroyShaderModule(device_->handle(), info.stage.module, nullptr);
  device_->check(result, "compile");
}

}  // namespace tenon::vulkan
