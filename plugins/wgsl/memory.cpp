// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs, and copies and fills at any byte on an API that moves whole words and never inside one
// buffer.
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

/// Null for memory of space 0.
std::byte* host_data(tn_memory* memory, uint64_t offset) {
  const auto* host = dynamic_cast<const sdk::HostMemory*>(sdk::memory_of(memory));
  return host ? host->data() + offset : nullptr;
}

void on_mapped(WGPUMapAsyncStatus status, WGPUStringView, void* to, void*) {
  *static_cast<WGPUMapAsyncStatus*>(to) = status;
}

}  // namespace

WGPUBuffer buffer_of(tn_memory* memory) {
  if (const auto* device = dynamic_cast<const BufferMemory*>(sdk::memory_of(memory)))
    return device->buffer.get();
  throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "launch: expected memory of space 0");
}

Ref<WGPUBuffer> WgslDevice::make_buffer(WGPUBufferUsage usage, uint64_t size) const {
  const WGPUBufferDescriptor wanted{nullptr, {}, usage, size, false};
  return Ref<WGPUBuffer>(gpu_.DeviceCreateBuffer(handle(), &wanted));
}

std::unique_ptr<sdk::Memory> WgslDevice::allocate(uint32_t space, uint64_t size) {
  if (space == 1) return std::make_unique<sdk::HostMemory>(size, 64);
  check(TN_ERROR_INTERNAL);
  auto memory = std::make_unique<BufferMemory>(make_buffer(kMemoryUsage, whole_words(size)), size);
  check(TN_ERROR_OUT_OF_MEMORY);
  return memory;
}

std::unique_ptr<sdk::Memory> WgslDevice::import_host(uint32_t, void* pointer, uint64_t size) {
  return std::make_unique<sdk::HostMemory>(pointer, size);
}

void WgslDevice::copy(const tn_command& c) {
  sdk::check_range(c.source, c.source_offset, c.size, "a source");
  sdk::check_range(c.destination, c.destination_offset, c.size, "a destination");
  if (c.size == 0) return;
  if (std::byte* from = host_data(c.source, c.source_offset))
    return write(c.destination, c.destination_offset, from, c.size);
  if (std::byte* to = host_data(c.destination, c.destination_offset))
    return read(c.source, c.source_offset, to, c.size);
  const bool is_aligned = (c.source_offset | c.destination_offset | c.size) % 4 == 0;
  std::vector<std::byte> bytes(is_aligned ? 0 : std::min(c.size, kPieceBytes));
  for (uint64_t done = 0, part; done < c.size; done += part) {
    const uint64_t from = c.source_offset + done, to = c.destination_offset + done;
    part = std::min(c.size - done, kPieceBytes);
    if (is_aligned) {
      gpu_.CommandEncoderCopyBufferToBuffer(encoder_.get(), buffer_of(c.source), from,
                                            bounce_.get(), 0, part);
      gpu_.CommandEncoderCopyBufferToBuffer(encoder_.get(), bounce_.get(), 0,
                                            buffer_of(c.destination), to, part);
    } else {
      read(c.source, from, bytes.data(), part);
      write(c.destination, to, bytes.data(), part);
    }
  }
}

void WgslDevice::fill(const tn_command& c) {
  sdk::check_range(c.destination, c.destination_offset, c.size, "a destination");
  std::vector<std::byte> block(std::min(c.size, kPieceBytes));
  for (uint64_t i = 0; i < block.size(); i += c.pattern_size)
    std::memcpy(&block[i], &c.pattern, c.pattern_size);
  for (uint64_t done = 0; done < c.size; done += block.size())
    write(c.destination, c.destination_offset + done, block.data(),
          std::min<uint64_t>(c.size - done, block.size()));
}

void WgslDevice::write(tn_memory* to, uint64_t offset, const std::byte* from, uint64_t size) {
  if (std::byte* host = host_data(to, offset)) return (void)std::memcpy(host, from, size);
  flush();  // what is written comes before all that is submitted later
  for (uint64_t part; size > 0; offset += part, from += part, size -= part) {
    const uint64_t first = offset % 4;
    part = first ? 0 : size / 4 * 4;
    if (part) {
      gpu_.QueueWriteBuffer(queue_.get(), buffer_of(to), offset, from, part);
    } else {  // a word that others share; no kernel runs now
      std::byte word[4];
      read(to, offset - first, word, sizeof word);
      std::memcpy(word + first, from, part = std::min(4 - first, size));
      gpu_.QueueWriteBuffer(queue_.get(), buffer_of(to), offset - first, word, sizeof word);
    }
  }
}

void WgslDevice::read(tn_memory* from, uint64_t offset, std::byte* to, uint64_t size) {
  for (uint64_t part; size > 0; offset += part, to += part, size -= part) {
    const uint64_t first = offset % 4;
    part = std::min(size, kPieceBytes - 4);
    const uint64_t bytes = whole_words(first + part);
    gpu_.CommandEncoderCopyBufferToBuffer(encoder_.get(), buffer_of(from), offset - first,
                                          readback_.get(), 0, bytes);
    flush();
    WGPUMapAsyncStatus status{};
    gpu_.BufferMapAsync(readback_.get(), WGPUMapMode_Read, 0, bytes,
                        {{}, kAtOnce, on_mapped, &status, {}});
    gpu_.DevicePoll(handle(), true, nullptr);
    check(TN_ERROR_INTERNAL);
    if (status != WGPUMapAsyncStatus_Success)
      throw sdk::Failure(TN_ERROR_INTERNAL, "webgpu: a buffer was not mapped");
    const void* mapped = gpu_.BufferGetConstMappedRange(readback_.get(), 0, bytes);
    std::memcpy(to, static_cast<const std::byte*>(mapped) + first, part);
    gpu_.BufferUnmap(readback_.get());
  }
}

}  // namespace tenon::wgsl
