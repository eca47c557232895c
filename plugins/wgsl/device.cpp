// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports errors, records commands, launches and compiles.
#include "plugins/wgsl/device.hpp"

#include <algorithm>
#include <utility>

#include "sdk/render/wgsl_dialect.hpp"

namespace tenon::wgsl {
namespace {

constexpr uint32_t kStamps = 2;

// wgpu-native reports on the thread that made the call, before the call returns.
thread_local WGPUErrorType reported = WGPUErrorType_NoError;
thread_local std::string report;

void on_error(const WGPUDevice*, WGPUErrorType type, WGPUStringView message, void*, void*) {
  if (reported == WGPUErrorType_NoError) report = text_of(message), reported = type;
}

void on_lost(const WGPUDevice*, WGPUDeviceLostReason, WGPUStringView, void* is_lost, void*) {
  *static_cast<std::atomic<bool>*>(is_lost) = true;
}

void on_device(WGPURequestDeviceStatus, WGPUDevice made, WGPUStringView message, void* to, void*) {
  *static_cast<WGPUDevice*>(to) = made;
  if (!made) on_error({}, WGPUErrorType_Internal, message, {}, {});
}

}  // namespace

WgslDevice::WgslDevice(WGPUAdapter adapter) : Recorder(static_cast<const sdk::Device&>(*this)) {
  gpu_.AdapterGetLimits(adapter, &limits_);
  WGPUAdapterInfo info = WGPU_ADAPTER_INFO_INIT;
  gpu_.AdapterGetInfo(adapter, &info);
  properties_ =
      make_properties(limits_, info.adapterType == WGPUAdapterType_CPU, text_of(info.device));
  gpu_.AdapterInfoFreeMembers(info);  // its numbers stay valid
  std::vector<WGPUFeatureName> features;
  const auto uses = [&](auto feature) {
    const bool has = gpu_.AdapterHasFeature(adapter, static_cast<WGPUFeatureName>(feature));
    if (has) features.push_back(static_cast<WGPUFeatureName>(feature));
    return has;
  };
  const bool has_subgroups = uses(WGPUNativeFeature_Subgroup);
  const bool has_clock =
      uses(WGPUFeatureName_TimestampQuery) && uses(WGPUNativeFeature_TimestampQueryInsideEncoders);
  WGPUDeviceDescriptor wanted = WGPU_DEVICE_DESCRIPTOR_INIT;
  wanted.requiredFeatureCount = features.size();
  wanted.requiredFeatures = features.data();
  wanted.requiredLimits = &limits_;  // all limits of the adapter
  wanted.deviceLostCallbackInfo = {{}, kAtOnce, on_lost, &is_lost_, {}};
  wanted.uncapturedErrorCallbackInfo.callback = on_error;
  WGPUDevice made = nullptr;
  gpu_.AdapterRequestDevice(adapter, &wanted, {{}, kAtOnce, on_device, &made, {}});
  check(TN_ERROR_INTERNAL);
  device_.reset(made);
  queue_.reset(gpu_.DeviceGetQueue(made));
  readback_ = make_buffer(WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, kPieceBytes);
  bounce_ = make_buffer(kMemoryUsage, kPieceBytes);
  if (has_clock) {
    const WGPUQuerySetDescriptor two{nullptr, {}, WGPUQueryType_Timestamp, kStamps};
    stamps_.reset(gpu_.DeviceCreateQuerySet(made, &two));
    ticks_ = make_buffer(WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc,
                         kStamps * sizeof(uint64_t));
  }
  check(TN_ERROR_OUT_OF_MEMORY);
  if (has_subgroups) find_subgroups(info);
}

WgslDevice::~WgslDevice() {
  if (is_lost_) (void)device_.release();  // the last release waits for the device, and would abort
}

void WgslDevice::check(tn_status on_validation) const {
  const WGPUErrorType type = std::exchange(reported, WGPUErrorType_NoError);
  if (is_lost_) throw sdk::Failure(TN_ERROR_DEVICE_LOST, "webgpu: the device is lost");
  if (type == WGPUErrorType_NoError) return;
  tn_status status = TN_ERROR_INTERNAL;
  if (type == WGPUErrorType_OutOfMemory) status = TN_ERROR_OUT_OF_MEMORY;
  if (type == WGPUErrorType_Validation) status = on_validation;
  throw sdk::Failure(status, "webgpu: " + report);
}

void WgslDevice::begin(uint32_t, uint32_t) {
  check(TN_ERROR_INTERNAL);
  encoder_.reset(gpu_.DeviceCreateCommandEncoder(handle(), nullptr));
  is_timing_ = std::exchange(times_next_, false);
  if (is_timing_) gpu_.CommandEncoderWriteTimestamp(encoder_.get(), stamps_.get(), 0);
}

void WgslDevice::end() {
  if (is_timing_) gpu_.CommandEncoderWriteTimestamp(encoder_.get(), stamps_.get(), 1);
  flush();
  gpu_.DevicePoll(handle(), true, nullptr);
  check(TN_ERROR_INTERNAL);
}

uint64_t WgslDevice::run_timed(const tn_submission& commands) {
  if (!stamps_) throw sdk::Failure(TN_ERROR_UNSUPPORTED, "timing: expected a clock");
  times_next_ = true;
  submit(sdk::Submission(&commands));
  gpu_.CommandEncoderResolveQuerySet(encoder_.get(), stamps_.get(), 0, kStamps, ticks_.get(), 0);
  uint64_t at[kStamps];
  fetch(ticks_.get(), 0, std::as_writable_bytes(std::span(at)));
  const double period = gpu_.QueueGetTimestampPeriod(queue_.get());  // nanoseconds
  return static_cast<uint64_t>(static_cast<double>(std::max(at[0], at[1]) - at[0]) * period);
}

void WgslDevice::flush() {
  const Ref<WGPUCommandBuffer> commands{gpu_.CommandEncoderFinish(encoder_.get(), nullptr)};
  encoder_.reset(gpu_.DeviceCreateCommandEncoder(handle(), nullptr));
  check(TN_ERROR_INVALID_ARGUMENT);  // submitting an invalid command buffer would abort the process
  const WGPUCommandBuffer all[] = {commands.get()};
  gpu_.QueueSubmit(queue_.get(), 1, all);
  check(TN_ERROR_INTERNAL);
}

void WgslDevice::dispatch(const Launch& launch) {
  const auto& code = static_cast<const WgslExecutable&>(launch.executable);
  std::vector<WGPUBindGroupEntry> entries;
  const auto bind = [&](WGPUBuffer buffer, uint64_t offset, uint64_t size) {
    entries.push_back({{}, static_cast<uint32_t>(entries.size()), buffer, offset, size, {}, {}});
  };
  for (const sdk::Range& from : launch.buffers) {
    if (from.memory) bind(buffer_of(from.memory), from.offset, sdk::whole_words(from.size));
    if (!from.memory) bind(bounce_.get(), 0, 16);  // WebGPU cannot bind an empty range
  }
  Ref<WGPUBuffer> scalars;
  if (const size_t size = launch.scalars.size()) {
    scalars = make_buffer(WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst, size);
    gpu_.QueueWriteBuffer(queue_.get(), scalars.get(), 0, launch.scalars.data(), size);
    bind(scalars.get(), 0, size);
  }
  const WGPUBindGroupDescriptor all{{}, {}, code.layout.get(), entries.size(), entries.data()};
  const Ref<WGPUBindGroup> bound{gpu_.DeviceCreateBindGroup(handle(), &all)};
  check(TN_ERROR_INVALID_ARGUMENT);
  const Ref<WGPUComputePassEncoder> pass{
      gpu_.CommandEncoderBeginComputePass(encoder_.get(), nullptr)};
  gpu_.ComputePassEncoderSetPipeline(pass.get(), code.pipeline.get());
  gpu_.ComputePassEncoderSetBindGroup(pass.get(), 0, bound.get(), 0, nullptr);
  gpu_.ComputePassEncoderDispatchWorkgroups(pass.get(), launch.grid[0], launch.grid[1],
                                            launch.grid[2]);
  gpu_.ComputePassEncoderEnd(pass.get());
}

WgslExecutable::WgslExecutable(sdk::Program made, const sdk::Device* device)
    : ShaderExecutable(std::move(made), device), source(sdk::print_wgsl(program())) {
  if (!device) return;
  const auto* on = static_cast<const WgslDevice*>(device);
  const WebGpu& gpu = library().gpu;
  WGPUBindGroupLayoutEntry entry = WGPU_BIND_GROUP_LAYOUT_ENTRY_INIT;
  entry.visibility = WGPUShaderStage_Compute;
  // All bindings are writable: the core cuts many buffers from one WebGPU buffer, which must not be
  // bound both read-only and writable in a launch.
  entry.buffer.type = WGPUBufferBindingType_Storage;
  std::vector<WGPUBindGroupLayoutEntry> entries(bindings().buffer_count(), entry);
  entry.buffer.type = WGPUBufferBindingType_Uniform;
  if (bindings().scalar_bytes() > 0) entries.push_back(entry);
  for (uint32_t i = 0; auto& each : entries) each.binding = i++;
  const WGPUBindGroupLayoutDescriptor group{{}, {}, entries.size(), entries.data()};
  layout.reset(gpu.DeviceCreateBindGroupLayout(on->handle(), &group));
  const WGPUBindGroupLayout groups[] = {layout.get()};
  const WGPUPipelineLayoutDescriptor all{{}, {}, 1, groups, 0};
  const Ref<WGPUPipelineLayout> everything{gpu.DeviceCreatePipelineLayout(on->handle(), &all)};
  WGPUShaderSourceWGSL code{{nullptr, WGPUSType_ShaderSourceWGSL}, view_of(source)};
  const WGPUShaderModuleDescriptor text{&code.chain, {}};
  // Disables loop counters of the driver, as loops of programs terminate.
  const Ref<WGPUShaderModule> module{gpu.DeviceCreateShaderModuleTrusted(
      on->handle(), &text, WGPUShaderRuntimeChecks_BoundsChecks)};
  on->check(TN_ERROR_COMPILE_FAILED);
  const std::string name = sdk::Dialect::function_name(program());
  const WGPUComputePipelineDescriptor wanted{
      nullptr, {}, everything.get(), {nullptr, module.get(), view_of(name), 0, nullptr}};
  pipeline.reset(gpu.DeviceCreateComputePipeline(on->handle(), &wanted));
  on->check(TN_ERROR_COMPILE_FAILED);
}

}  // namespace tenon::wgsl
