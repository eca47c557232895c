// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is reported, recorded and launched.
#include "plugins/wgsl/device.hpp"

#include <utility>

namespace tenon::wgsl {
namespace {

/// wgpu-native reports on the thread that made the call, before the call returns.
struct Report {
  WGPUErrorType type = WGPUErrorType_NoError;
  std::string message;
};
thread_local Report reported;

void on_error(const WGPUDevice*, WGPUErrorType type, WGPUStringView message, void*, void*) {
  if (reported.type == WGPUErrorType_NoError) reported = {type, text_of(message)};
}

void on_lost(const WGPUDevice*, WGPUDeviceLostReason, WGPUStringView, void* is_lost, void*) {
  *static_cast<std::atomic<bool>*>(is_lost) = true;
}

void on_device(WGPURequestDeviceStatus, WGPUDevice made, WGPUStringView message, void* to, void*) {
  *static_cast<WGPUDevice*>(to) = made;
  if (!made) reported = {WGPUErrorType_Internal, text_of(message)};
}

}  // namespace

WgslDevice::WgslDevice(WGPUAdapter adapter) {
  gpu_.AdapterGetLimits(adapter, &limits_);
  properties_ = make_properties(limits_);
  WGPUDeviceDescriptor wanted = WGPU_DEVICE_DESCRIPTOR_INIT;
  wanted.requiredLimits = &limits_;  // all that the adapter has
  wanted.deviceLostCallbackInfo = {nullptr, WGPUCallbackMode_AllowSpontaneous, on_lost, &is_lost_,
                                   nullptr};
  wanted.uncapturedErrorCallbackInfo.callback = on_error;
  WGPUDevice made = nullptr;
  gpu_.AdapterRequestDevice(
      adapter, &wanted, {nullptr, WGPUCallbackMode_AllowSpontaneous, on_device, &made, nullptr});
  check(TN_ERROR_INTERNAL);
  device_.reset(made);
  queue_.reset(gpu_.DeviceGetQueue(made));
  readback_ = make_buffer(WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, kPieceBytes);
  bounce_ = make_buffer(kMemoryUsage, kPieceBytes);
  check(TN_ERROR_OUT_OF_MEMORY);
}

WgslDevice::~WgslDevice() {
  if (is_lost_) (void)device_.release();  // the last release waits for the device, and would abort
}

void WgslDevice::check(tn_status on_validation) const {
  const Report report = std::exchange(reported, {});
  if (is_lost_) throw sdk::Failure(TN_ERROR_DEVICE_LOST, "webgpu: the device is lost");
  if (report.type == WGPUErrorType_NoError) return;
  tn_status status = TN_ERROR_INTERNAL;
  if (report.type == WGPUErrorType_OutOfMemory) status = TN_ERROR_OUT_OF_MEMORY;
  if (report.type == WGPUErrorType_Validation) status = on_validation;
  throw sdk::Failure(status, "webgpu: " + report.message);
}

void WgslDevice::submit(const sdk::Submission& submission) {
  check(TN_ERROR_INTERNAL);
  encoder_.reset();  // of a submission that failed
  for (uint32_t i = 0; i < submission.command_count(); ++i) {
    const tn_command command = submission.command(i);
    if (command.kind == TN_COMMAND_LAUNCH) launch(command);
    if (command.kind == TN_COMMAND_COPY) copy(command);
    if (command.kind == TN_COMMAND_FILL) fill(command);
  }
  flush();
  gpu_.DevicePoll(handle(), true, nullptr);
  check(TN_ERROR_INTERNAL);
}

WGPUCommandEncoder WgslDevice::encoder() {
  if (!encoder_) encoder_.reset(gpu_.DeviceCreateCommandEncoder(handle(), nullptr));
  return encoder_.get();
}

void WgslDevice::flush() {
  const Ref<WGPUCommandBuffer> commands{gpu_.CommandEncoderFinish(encoder(), nullptr)};
  encoder_.reset();
  check(TN_ERROR_INVALID_ARGUMENT);  // to submit a wrong one would abort the process
  const WGPUCommandBuffer all[] = {commands.get()};
  gpu_.QueueSubmit(queue_.get(), 1, all);
  check(TN_ERROR_INTERNAL);
}

void WgslDevice::launch(const tn_command& command) {
  const auto& code = static_cast<const WgslExecutable&>(*sdk::executable_of(command.executable));
  check_launch(command, code.signature());
  if (code.device != this)
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "launch: expected an executable of this device");
  if (!command.grid[0] || !command.grid[1] || !command.grid[2]) return;
  std::vector<WGPUBindGroupEntry> entries;
  std::vector<uint32_t> words;
  const auto bind = [&](WGPUBuffer buffer, uint64_t offset, uint64_t size) {
    entries.push_back(
        {nullptr, static_cast<uint32_t>(entries.size()), buffer, offset, size, nullptr, nullptr});
  };
  for (uint32_t i = 0; i < command.argument_count; ++i) {
    const tn_argument& from = sdk::Submission::argument(command, i);
    if (from.kind == TN_ARGUMENT_SCALAR)
      words.push_back(static_cast<uint32_t>(from.scalar));
    else if (from.size == 0)
      bind(bounce_.get(), 0, 16);  // WebGPU binds no empty range
    else
      bind(buffer_of(from.memory), from.offset, whole_words(from.size));
  }
  Ref<WGPUBuffer> scalars;
  if (!words.empty()) {
    words.resize((words.size() + 3) / 4 * 4);
    const uint64_t size = words.size() * sizeof words[0];
    scalars = make_buffer(WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst, size);
    gpu_.QueueWriteBuffer(queue_.get(), scalars.get(), 0, words.data(), size);
    bind(scalars.get(), 0, size);
  }
  const WGPUBindGroupDescriptor group{
      nullptr, {}, code.layout.get(), entries.size(), entries.data()};
  const Ref<WGPUBindGroup> bound{gpu_.DeviceCreateBindGroup(handle(), &group)};
  check(TN_ERROR_INVALID_ARGUMENT);
  const Ref<WGPUComputePassEncoder> pass{gpu_.CommandEncoderBeginComputePass(encoder(), nullptr)};
  gpu_.ComputePassEncoderSetPipeline(pass.get(), code.pipeline.get());
  gpu_.ComputePassEncoderSetBindGroup(pass.get(), 0, bound.get(), 0, nullptr);
  gpu_.ComputePassEncoderDispatchWorkgroups(pass.get(), command.grid[0], command.grid[1],
                                            command.grid[2]);
  gpu_.ComputePassEncoderEnd(pass.get());
}

}  // namespace tenon::wgsl
