// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a program to a pipeline. Every buffer is bound as read-write storage: the core cuts many
// from one WebGPU buffer, which cannot be read-only and writable in one launch.
#include "plugins/wgsl/device.hpp"
#include "sdk/helpers/saved_executable.hpp"
#include "sdk/render/scalar_layout.hpp"
#include "sdk/render/wgsl_dialect.hpp"

namespace tenon::wgsl {

WgslExecutable::WgslExecutable(sdk::Program made, const sdk::Device* of)
    : ProgramExecutable(std::move(made)),
      device(static_cast<const WgslDevice*>(of)),
      source_(sdk::print_wgsl(program())) {
  if (!of) return;
  const WebGpu& gpu = library().gpu;
  const size_t buffers = sdk::buffer_count(program());
  const bool has_scalars = buffers < signature().arguments.size();
  std::vector<WGPUBindGroupLayoutEntry> entries(buffers + has_scalars,
                                                WGPU_BIND_GROUP_LAYOUT_ENTRY_INIT);
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].binding = static_cast<uint32_t>(i);
    entries[i].visibility = WGPUShaderStage_Compute;
    entries[i].buffer.type =
        i < buffers ? WGPUBufferBindingType_Storage : WGPUBufferBindingType_Uniform;
  }
  const WGPUBindGroupLayoutDescriptor group{nullptr, {}, entries.size(), entries.data()};
  layout.reset(gpu.DeviceCreateBindGroupLayout(device->handle(), &group));
  const WGPUBindGroupLayout groups[] = {layout.get()};
  const WGPUPipelineLayoutDescriptor all{nullptr, {}, 1, groups, 0};
  const Ref<WGPUPipelineLayout> bindings{gpu.DeviceCreatePipelineLayout(device->handle(), &all)};
  WGPUShaderSourceWGSL source{{nullptr, WGPUSType_ShaderSourceWGSL}, view_of(source_)};
  const WGPUShaderModuleDescriptor text{&source.chain, {}};
  const Ref<WGPUShaderModule> module{gpu.DeviceCreateShaderModule(device->handle(), &text)};
  device->check(TN_ERROR_COMPILE_FAILED);
  const std::string entry = sdk::Dialect::function_name(program());
  const WGPUComputePipelineDescriptor wanted{
      nullptr, {}, bindings.get(), {nullptr, module.get(), view_of(entry), 0, nullptr}};
  pipeline.reset(gpu.DeviceCreateComputePipeline(device->handle(), &wanted));
  device->check(TN_ERROR_COMPILE_FAILED);
}

std::string WgslExecutable::text(tn_text_kind kind) const {
  return kind == TN_TEXT_SOURCE ? source_ : sdk::Executable::text(kind);
}

/// WebGPU has no form of a pipeline to keep: the program is saved, and compiled again.
std::vector<std::byte> WgslExecutable::save() const {
  const std::span<const std::byte> bytes = program().bytes();
  return sdk::pack_saved("wgsl", std::span(&bytes, 1));
}

}  // namespace tenon::wgsl
