// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device of an adapter, and its executables: programs as WGSL and pipelines. Submissions are
// synchronous.
#pragma once

#include <atomic>
#include <span>

#include "plugins/wgsl/webgpu.hpp"
#include "sdk/backend/property_table.hpp"
#include "sdk/backend/timing.hpp"
#include "sdk/shader/recorder.hpp"

namespace tenon::wgsl {

/// Properties of an adapter with these limits. `is_software`: it computes on the host's processor.
/// `name`: that of the device in its driver.
std::unique_ptr<sdk::PropertyTable> make_properties(const WGPULimits& limits, bool is_software,
                                                    std::string_view name);

constexpr auto kAtOnce = WGPUCallbackMode_AllowSpontaneous;
constexpr uint64_t kPieceBytes = uint64_t{4} << 20;  ///< most bytes of a partial copy
constexpr WGPUBufferUsage kMemoryUsage =
    WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;

class WgslDevice : public sdk::Device, public sdk::TimedDevice, private sdk::Recorder {
 public:
  explicit WgslDevice(WGPUAdapter adapter);
  ~WgslDevice() override;

  const tn_properties& properties() const override { return properties_->get(); }
  /// Space 0 is device memory, not visible to the host. Space 1 is host memory, for copies.
  std::unique_ptr<sdk::Memory> allocate(uint32_t space, uint64_t size) override;
  std::unique_ptr<sdk::Memory> import_host(uint32_t space, void* pointer, uint64_t size) override;
  void submit(const sdk::Submission& submission) override { record(submission); }
  uint64_t run_timed(const tn_submission& commands) override;

  WGPUDevice handle() const { return device_.get(); }
  /// Throws if the device is lost, and errors that WebGPU reported to this thread since the last
  /// call. Validation errors get the status `on_validation`.
  void check(tn_status on_validation) const;

 private:
  Ref<WGPUBuffer> make_buffer(WGPUBufferUsage usage, uint64_t size) const;
  /// Declares subgroups if they have a single size.
  void find_subgroups(const WGPUAdapterInfo& info);
  /// Whether threads exchange values in groups of this size, along rows of the workgroup.
  bool acts_as_subgroups(uint32_t size);
  void flush();  ///< submits the commands of encoder_
  void begin(uint32_t launches, uint32_t buffers) override;
  void end() override;
  void dispatch(const Launch& launch) override;
  void copy(const sdk::Range& to, const sdk::Range& from) override;
  void fill_words(const sdk::Range& to, uint32_t word) override;
  // In order with recorded commands, at any offset and size.
  void write(const sdk::Range& to, const std::byte* from) override;
  void read(const sdk::Range& from, std::byte* to);
  void fetch(WGPUBuffer from, uint64_t at, std::span<std::byte> to);  ///< less than kPieceBytes

  const WebGpu& gpu_ = library().gpu;
  WGPULimits limits_ = WGPU_LIMITS_INIT;
  std::unique_ptr<sdk::PropertyTable> properties_;
  std::atomic<bool> is_lost_ = false;
  Ref<WGPUDevice> device_;
  Ref<WGPUQueue> queue_;
  Ref<WGPUBuffer> readback_, bounce_;  ///< for copies, kPieceBytes each
  Ref<WGPUQuerySet> stamps_;           ///< timestamps of begin and end of a recording, if supported
  Ref<WGPUBuffer> ticks_;              ///< resolved timestamps
  bool times_next_ = false, is_timing_ = false;  ///< a recording
  Ref<WGPUCommandEncoder> encoder_;
};

/// Throws TN_ERROR_INVALID_ARGUMENT for memory of space 1.
WGPUBuffer buffer_of(const sdk::Memory* memory);

/// WebGPU cannot save pipelines, so the program is saved and compiled again.
class WgslExecutable : public sdk::ShaderExecutable {
 public:
  /// `device` may be null. Throws TN_ERROR_COMPILE_FAILED with the message of WebGPU.
  WgslExecutable(sdk::Program program, const sdk::Device* device);
  std::string text(tn_text_kind kind) const override {
    if (kind == TN_TEXT_SOURCE) return source;
    throw sdk::Failure(TN_ERROR_UNSUPPORTED, "executable_text: WebGPU shows no assembly");
  }

  const std::string source;
  Ref<WGPUBindGroupLayout> layout;
  Ref<WGPUComputePipeline> pipeline;
};

}  // namespace tenon::wgsl
