// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every buffer is bound as read-write storage: the core cuts many from one WebGPU buffer, which
// cannot be read-only and writable in one launch. The scalars are a uniform block behind them.
#include "plugins/wgsl/executable.hpp"

#include "sdk/helpers/saved_executable.hpp"
#include "sdk/render/scalar_layout.hpp"
#include "sdk/render/wgsl_dialect.hpp"

namespace tenon::wgsl {

WgslExecutable::WgslExecutable(sdk::Program program, const WgslDevice* device)
    : program_(std::move(program)),
      signature_(program_.view()),
      source_(sdk::print_wgsl(program_.view())),
      device_(device) {
  if (!device) return;
  const WebGpu& gpu = library().gpu;
  device->begin();
  const uint32_t buffers = sdk::buffer_count(program_.view());
  std::vector<WGPUBindGroupLayoutEntry> entries(
      buffers + (buffers < signature_.arguments.size() ? 1 : 0), WGPU_BIND_GROUP_LAYOUT_ENTRY_INIT);
  for (uint32_t i = 0; i < entries.size(); ++i) {
    entries[i].binding = i;
    entries[i].visibility = WGPUShaderStage_Compute;
    entries[i].buffer.type =
        i < buffers ? WGPUBufferBindingType_Storage : WGPUBufferBindingType_Uniform;
  }
  WGPUBindGroupLayoutDescriptor group = WGPU_BIND_GROUP_LAYOUT_DESCRIPTOR_INIT;
  group.entryCount = entries.size();
  group.entries = entries.data();
  layout_ = {gpu.DeviceCreateBindGroupLayout(device->handle(), &group), gpu.BindGroupLayoutRelease};
  const WGPUBindGroupLayout groups[] = {layout_.get()};
  WGPUPipelineLayoutDescriptor all = WGPU_PIPELINE_LAYOUT_DESCRIPTOR_INIT;
  all.bindGroupLayoutCount = 1;
  all.bindGroupLayouts = groups;
  const Ref<WGPUPipelineLayout> layout{gpu.DeviceCreatePipelineLayout(device->handle(), &all),
                                       gpu.PipelineLayoutRelease};
  WGPUShaderSourceWGSL source = WGPU_SHADER_SOURCE_WGSL_INIT;
  source.code = view_of(source_);
  WGPUShaderModuleDescriptor text = WGPU_SHADER_MODULE_DESCRIPTOR_INIT;
  text.nextInChain = &source.chain;
  const Ref<WGPUShaderModule> module{gpu.DeviceCreateShaderModule(device->handle(), &text),
                                     gpu.ShaderModuleRelease};
  device->check(TN_ERROR_COMPILE_FAILED);
  const std::string entry = sdk::Dialect::function_name(program_.view());
  WGPUComputePipelineDescriptor pipeline = WGPU_COMPUTE_PIPELINE_DESCRIPTOR_INIT;
  pipeline.layout = layout.get();
  pipeline.compute.module = module.get();
  pipeline.compute.entryPoint = view_of(entry);
  pipeline_ = {gpu.DeviceCreateComputePipeline(device->handle(), &pipeline),
               gpu.ComputePipelineRelease};
  device->check(TN_ERROR_COMPILE_FAILED);
}

std::string WgslExecutable::text(tn_text_kind kind) const {
  return kind == TN_TEXT_SOURCE ? source_ : sdk::Executable::text(kind);
}

/// WebGPU has no form of a pipeline to keep: the program is saved, and printed again.
std::vector<std::byte> WgslExecutable::save() const {
  const std::span<const std::byte> program = program_.view().bytes();
  return sdk::pack_saved("wgsl", std::span(&program, 1));
}

}  // namespace tenon::wgsl
