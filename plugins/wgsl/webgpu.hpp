// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A WebGPU implementation, opened at run time.
#pragma once

#include <wgpu.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace tenon::wgsl {

/// The functions used, wgpu<name>.
#define TENON_WEBGPU(X)                                                                            \
  X(GetVersion)                                                                                    \
  X(CreateInstance)                                                                                \
  X(InstanceEnumerateAdapters)                                                                     \
  X(AdapterGetInfo) X(AdapterInfoFreeMembers) X(AdapterGetLimits) X(AdapterRequestDevice) X(       \
      DeviceGetQueue) X(DevicePoll) X(DeviceCreateBuffer) X(DeviceCreateShaderModule)              \
      X(DeviceCreateBindGroupLayout) X(DeviceCreatePipelineLayout) X(DeviceCreateComputePipeline)  \
          X(DeviceCreateBindGroup) X(DeviceCreateCommandEncoder) X(CommandEncoderBeginComputePass) \
              X(CommandEncoderFinish) X(CommandEncoderCopyBufferToBuffer)                          \
                  X(ComputePassEncoderSetPipeline) X(ComputePassEncoderEnd)                        \
                      X(ComputePassEncoderSetBindGroup) X(ComputePassEncoderDispatchWorkgroups)    \
                          X(QueueSubmit) X(QueueWriteBuffer) X(BufferMapAsync)                     \
                              X(BufferGetConstMappedRange) X(BufferUnmap) X(BufferDestroy)         \
                                  X(DeviceRelease) X(QueueRelease) X(BufferRelease)                \
                                      X(ShaderModuleRelease) X(BindGroupLayoutRelease)             \
                                          X(PipelineLayoutRelease) X(ComputePipelineRelease)       \
                                              X(BindGroupRelease) X(CommandEncoderRelease)         \
                                                  X(CommandBufferRelease)                          \
                                                      X(ComputePassEncoderRelease)

struct WebGpu {
#define TENON_WEBGPU_MEMBER(name) decltype(&wgpu##name) name = nullptr;
  TENON_WEBGPU(TENON_WEBGPU_MEMBER)
#undef TENON_WEBGPU_MEMBER
};

/// The implementation and its adapters, in an order that stays.
struct Library {
  WebGpu gpu;
  std::string name;    ///< as "wgpu-native 29.0.1.1"; empty if there is none
  std::string reason;  ///< why there is none
  std::vector<WGPUAdapter> adapters;
};

/// Opened at the first call, never closed. Looks at TENON_WEBGPU_LIBRARY alone if it is set; else
/// beside the plugin, then where the loader looks. Takes only the version that wgpu.h describes.
const Library& library();

inline std::string text_of(WGPUStringView text) {
  return text.data ? std::string(text.data, text.length) : std::string();
}
inline WGPUStringView view_of(const std::string& text) { return {text.data(), text.size()}; }

/// Owns one reference to a WebGPU object.
template <class Handle>
using Ref = std::unique_ptr<std::remove_pointer_t<Handle>, void (*)(Handle)>;
template <class Handle>
Ref<Handle> none() {
  return {nullptr, [](Handle) {}};
}

}  // namespace tenon::wgsl
