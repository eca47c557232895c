// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs, and copies and fills at any byte. WebGPU only copies whole words between different
// buffers.
#include <algorithm>
#include <cstring>

#include "plugins/wgsl/device.hpp"

namespace tenon::wgsl {
namespace {

struct BufferMemory : sdk::Memory {
  BufferMemory(Ref<WGPUBuffer> made, uint64_t size) : buffer(std::move(made)), bytes(size) {}
  uint64_t size() const override { return bytes; }

  const Ref<WGPUBuffer> buffer;
  const uint64_t bytes;
};

/// Host pointer of a range; null for memory of space 0.
std::byte* host_data(const sdk::Range& range) {
  const auto* host = dynamic_cast<const sdk::HostMemory*>(range.memory);
  return host ? host->data() + range.offset : nullptr;
}

void on_mapped(WGPUMapAsyncStatus status, WGPUStringView, void* to, void*) {
  *static_cast<WGPUMapAsyncStatus*>(to) = status;
}

}  // namespace

WGPUBuffer buffer_of(const sdk::Memory* memory) {
  if (const auto* device = dynamic_cast<const BufferMemory*>(memory)) return device->buffer.get();
  throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "launch: expected memory of space 0");
}

Ref<WGPUBuffer> WgslDevice::make_buffer(WGPUBufferUsage usage, uint64_t size) const {
  const WGPUBufferDescriptor wanted{nullptr, {}, usage, size, false};
  return Ref<WGPUBuffer>(gpu_.DeviceCreateBuffer(handle(), &wanted));
}

std::unique_ptr<sdk::Memory> WgslDevice::allocate(uint32_t space, uint64_t size) {
  if (space == 1) return std::make_unique<sdk::HostMemory>(size, 64);
  check(TN_ERROR_INTERNAL);
  auto memory =
      std::make_unique<BufferMemory>(make_buffer(kMemoryUsage, sdk::whole_words(size)), size);
  check(TN_ERROR_OUT_OF_MEMORY);
  return memory;
}

std::unique_ptr<sdk::Memory> WgslDevice::import_host(uint32_t, void* pointer, uint64_t size) {
  return std::make_unique<sdk::HostMemory>(pointer, size);
}

void WgslDevice::copy(const sdk::Range& to, const sdk::Range& from) {
  if (const std::byte* data = host_data(from)) return write(to, data);
  if (std::byte* data = host_data(to)) return read(from, data);
  const bool is_aligned = (from.offset | to.offset | to.size) % 4 == 0;
  std::vector<std::byte> bytes(is_aligned ? 0 : std::min(to.size, kPieceBytes));
  for (uint64_t done = 0, size; done < to.size; done += size) {
    size = std::min(to.size - done, kPieceBytes);
    const sdk::Range source = from.part(done, size), target = to.part(done, size);
    if (is_aligned) {
      gpu_.CommandEncoderCopyBufferToBuffer(encoder_.get(), buffer_of(source.memory), source.offset,
                                            bounce_.get(), 0, size);
      gpu_.CommandEncoderCopyBufferToBuffer(encoder_.get(), bounce_.get(), 0,
                                            buffer_of(target.memory), target.offset, size);
    } else {
      read(source, bytes.data());
      write(target, bytes.data());
    }
  }
}

void WgslDevice::fill_words(const sdk::Range& to, uint32_t word) {
  const std::vector<uint32_t> block(std::min(to.size, kPieceBytes) / sizeof word, word);
  for (uint64_t done = 0; done < to.size; done += kPieceBytes)
    write(to.part(done, std::min(to.size - done, kPieceBytes)),
          reinterpret_cast<const std::byte*>(block.data()));
}

void WgslDevice::write(const sdk::Range& to, const std::byte* from) {
  if (std::byte* host = host_data(to)) return (void)std::memcpy(host, from, to.size);
  flush();  // the write must precede later submissions
  for (uint64_t done = 0, size; done < to.size; done += size) {
    const uint64_t at = to.offset + done, first = at % 4, left = to.size - done;
    size = first ? 0 : left / 4 * 4;
    if (size) {
      gpu_.QueueWriteBuffer(queue_.get(), buffer_of(to.memory), at, from + done, size);
    } else {  // a partial word: read, modify and write it, while no kernel runs
      std::byte word[4];
      size = std::min(4 - first, left);
      read({to.memory, at - first, sizeof word}, word);
      std::memcpy(word + first, from + done, size);
      gpu_.QueueWriteBuffer(queue_.get(), buffer_of(to.memory), at - first, word, sizeof word);
    }
  }
}

void WgslDevice::read(const sdk::Range& from, std::byte* to) {
  for (uint64_t done = 0, size; done < from.size; done += size) {
    size = std::min(from.size - done, kPieceBytes - 4);
    fetch(buffer_of(from.memory), from.offset + done, {to + done, size});
  }
}

void WgslDevice::fetch(WGPUBuffer from, uint64_t at, std::span<std::byte> to) {
  const uint64_t first = at % 4, bytes = sdk::whole_words(first + to.size());
  gpu_.CommandEncoderCopyBufferToBuffer(encoder_.get(), from, at - first, readback_.get(), 0,
                                        bytes);
  flush();
  WGPUMapAsyncStatus status{};
  gpu_.BufferMapAsync(readback_.get(), WGPUMapMode_Read, 0, bytes,
                      {{}, kAtOnce, on_mapped, &status, {}});
  gpu_.DevicePoll(handle(), true, nullptr);
  check(TN_ERROR_INTERNAL);
  if (status != WGPUMapAsyncStatus_Success)
    throw sdk::Failure(TN_ERROR_INTERNAL, "webgpu: a buffer was not mapped");
  const void* mapped = gpu_.BufferGetConstMappedRange(readback_.get(), 0, bytes);
  std::memcpy(to.data(), static_cast<const std::byte*>(mapped) + first, to.size());
  gpu_.BufferUnmap(readback_.get());
}

}  // namespace tenon::wgsl
