// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One adapter's device: memory, and submissions that are done when they return.
#pragma once

#include <atomic>

#include "plugins/wgsl/webgpu.hpp"
#include "sdk/helpers/host_device.hpp"
#include "sdk/helpers/property_table.hpp"

namespace tenon::wgsl {

constexpr uint64_t kPieceBytes = uint64_t{4} << 20;  ///< of a copy through the device's own buffers
constexpr WGPUBufferUsage kMemoryUsage =
    WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;

/// WebGPU copies and binds whole 32-bit words.
constexpr uint64_t whole_words(uint64_t bytes) { return (bytes + 3) / 4 * 4; }

/// What an adapter of these limits can do.
std::unique_ptr<sdk::PropertyTable> make_properties(const WGPULimits& limits);

/// Of memory space 0: what kernels see. Space 1 is host memory, which copies go to and from.
class BufferMemory : public sdk::Memory {
 public:
  BufferMemory(Ref<WGPUBuffer> buffer, uint64_t size) : buffer_(std::move(buffer)), size_(size) {}
  void* map(uint64_t, uint64_t) override {
    throw sdk::Failure(TN_ERROR_UNSUPPORTED, "memory_map: expected memory of space 1");
  }
  uint64_t size() const override { return size_; }
  WGPUBuffer buffer() const { return buffer_.get(); }

 private:
  Ref<WGPUBuffer> buffer_;
  uint64_t size_;
};

/// Throws TN_ERROR_INVALID_ARGUMENT for memory of space 1.
WGPUBuffer buffer_of(tn_memory* memory);

class WgslDevice : public sdk::Device {
 public:
  explicit WgslDevice(WGPUAdapter adapter);
  ~WgslDevice() override;

  const tn_properties& properties() const override { return properties_->get(); }
  std::unique_ptr<sdk::Memory> allocate(uint32_t space, uint64_t size) override;
  std::unique_ptr<sdk::Memory> import_host(uint32_t space, void* pointer, uint64_t size) override;
  void submit(const sdk::Submission& submission) override;

  WGPUDevice handle() const { return device_.get(); }
  /// Forgets what WebGPU reported to this thread; throws if the device is lost.
  void begin() const;
  /// Throws what WebGPU reported since begin(); validation errors become `on_validation`.
  void check(tn_status on_validation) const;

 private:
  Ref<WGPUBuffer> make_buffer(WGPUBufferUsage usage, uint64_t size) const;

  WGPUCommandEncoder encoder();  ///< for commands that flush() hands over
  void flush();
  void launch(const tn_command& command);
  void fill(const tn_command& command);
  // At any offset and size, in order with what was recorded.
  void copy(const tn_command& command);
  void copy_words(const tn_command& command);
  void write(WGPUBuffer to, uint64_t offset, const std::byte* from, uint64_t size);
  void read(WGPUBuffer from, uint64_t offset, std::byte* to, uint64_t size);

  const WebGpu& gpu_ = library().gpu;
  WGPULimits limits_ = WGPU_LIMITS_INIT;
  std::unique_ptr<sdk::PropertyTable> properties_;
  std::atomic<bool> is_lost_ = false;
  Ref<WGPUDevice> device_ = none<WGPUDevice>();
  Ref<WGPUQueue> queue_ = none<WGPUQueue>();
  Ref<WGPUBuffer> readback_ = none<WGPUBuffer>(), bounce_ = none<WGPUBuffer>();
  Ref<WGPUCommandEncoder> encoder_ = none<WGPUCommandEncoder>();
};

}  // namespace tenon::wgsl
