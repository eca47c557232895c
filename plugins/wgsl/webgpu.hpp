// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A WebGPU implementation, opened at run time.
#pragma once

#include <wgpu.h>

#include <memory>
#include <string>
#include <vector>

namespace tenon::wgsl {

// clang-format off
/// The functions used, wgpu<name>, and the objects; the version comes first.
#define TENON_WEBGPU(X)                                                                           \
  X(GetVersion) X(CreateInstance) X(InstanceEnumerateAdapters) X(AdapterGetInfo) X(DevicePoll)    \
  X(AdapterInfoFreeMembers) X(AdapterGetLimits) X(AdapterHasFeature) X(AdapterRequestDevice)      \
  X(DeviceGetQueue) X(DeviceCreateBuffer) X(DeviceCreateShaderModuleTrusted) X(BufferUnmap)       \
  X(DeviceCreateBindGroup) X(DeviceCreateBindGroupLayout) X(DeviceCreatePipelineLayout)           \
  X(DeviceCreateComputePipeline) X(QueueWriteBuffer)                                              \
  X(DeviceCreateCommandEncoder) X(CommandEncoderBeginComputePass) X(CommandEncoderFinish)         \
  X(CommandEncoderCopyBufferToBuffer) X(ComputePassEncoderSetPipeline) X(ComputePassEncoderEnd)   \
  X(ComputePassEncoderSetBindGroup) X(ComputePassEncoderDispatchWorkgroups)                       \
  X(BufferMapAsync) X(BufferGetConstMappedRange) X(QueueSubmit) X(QueueGetTimestampPeriod)        \
  X(DeviceCreateQuerySet) X(CommandEncoderWriteTimestamp) X(CommandEncoderResolveQuerySet)
#define TENON_WEBGPU_OBJECTS(X)                                                                   \
  X(Device) X(Queue) X(Buffer) X(ShaderModule) X(BindGroupLayout) X(PipelineLayout) X(BindGroup)  \
  X(ComputePipeline) X(QuerySet) X(CommandEncoder) X(CommandBuffer) X(ComputePassEncoder)
// clang-format on

struct WebGpu {
#define TENON_WEBGPU_FUNCTION(name) decltype(&wgpu##name) name = nullptr;
#define TENON_WEBGPU_RELEASE(name) TENON_WEBGPU_FUNCTION(name##Release)
  TENON_WEBGPU(TENON_WEBGPU_FUNCTION) TENON_WEBGPU_OBJECTS(TENON_WEBGPU_RELEASE)
};

/// The implementation.
struct Library {
  WebGpu gpu;
  std::string name;    ///< as "wgpu-native 29.0.1.1"
  std::string reason;  ///< why it cannot be used; or ""
};

/// Opened at first use, never closed. Uses only TENON_WEBGPU_LIBRARY if it is set; else looks
/// beside the plugin, then where the loader looks. Accepts only the version of wgpu.h.
const Library& library();

struct Adapters {
  std::string reason;  ///< why there are none
  std::vector<WGPUAdapter> handles;
};
/// In a fixed order. A child of fork has its own.
const Adapters& adapters();

inline std::string text_of(WGPUStringView text) { return {text.data, text.length}; }
inline WGPUStringView view_of(const std::string& text) { return {text.data(), text.size()}; }

/// Owns one reference to a WebGPU object.
struct Release {
#define TENON_WEBGPU_OWNED(name) \
  void operator()(WGPU##name object) const { library().gpu.name##Release(object); }
  TENON_WEBGPU_OBJECTS(TENON_WEBGPU_OWNED)
};
template <class Handle>
using Ref = std::unique_ptr<std::remove_pointer_t<Handle>, Release>;

}  // namespace tenon::wgsl
