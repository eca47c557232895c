// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs, and copies and fills at any byte on an API that moves whole words and never inside one
// buffer.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "plugins/wgsl/device.hpp"

namespace tenon::wgsl {
namespace {

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
  const auto* of_device = dynamic_cast<const BufferMemory*>(sdk::memory_of(memory));
  if (!of_device)
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "launch: expected memory of space 0");
  return of_device->buffer();
}

Ref<WGPUBuffer> WgslDevice::make_buffer(WGPUBufferUsage usage, uint64_t size) const {
  WGPUBufferDescriptor wanted = WGPU_BUFFER_DESCRIPTOR_INIT;
  wanted.usage = usage;
  wanted.size = size;
  return {gpu_.DeviceCreateBuffer(handle(), &wanted), gpu_.BufferRelease};
}

std::unique_ptr<sdk::Memory> WgslDevice::allocate(uint32_t space, uint64_t size) {
  if (space == 1) return std::make_unique<sdk::HostMemory>(size, 64);
  begin();
  if (whole_words(size) > limits_.maxBufferSize || size > UINT64_MAX - 3)
    throw sdk::Failure(TN_ERROR_OUT_OF_MEMORY,
                       fmt::format("memory_allocate: expected at most {} bytes, got {}",
                                   limits_.maxBufferSize, size));
  auto memory = std::make_unique<BufferMemory>(make_buffer(kMemoryUsage, whole_words(size)), size);
  check(TN_ERROR_OUT_OF_MEMORY);
  return memory;
}

std::unique_ptr<sdk::Memory> WgslDevice::import_host(uint32_t space, void* pointer, uint64_t size) {
  if (space != 1)
    throw sdk::Failure(TN_ERROR_UNSUPPORTED, "memory_import: expected memory space 1");
  return std::make_unique<sdk::HostMemory>(pointer, size);
}

void WgslDevice::copy(const tn_command& c) {
  sdk::check_range(c.source, c.source_offset, c.size, "a source");
  sdk::check_range(c.destination, c.destination_offset, c.size, "a destination");
  if (c.size == 0) return;
  std::byte* const from = host_data(c.source, c.source_offset);
  std::byte* const to = host_data(c.destination, c.destination_offset);
  if (from && to) {
    std::memcpy(to, from, c.size);
  } else if (from) {
    write(buffer_of(c.destination), c.destination_offset, from, c.size);
  } else if (to) {
    read(buffer_of(c.source), c.source_offset, to, c.size);
  } else if ((c.source_offset | c.destination_offset | c.size) % 4 == 0) {
    copy_words(c);
  } else {
    std::vector<std::byte> bytes(c.size);
    read(buffer_of(c.source), c.source_offset, bytes.data(), c.size);
    write(buffer_of(c.destination), c.destination_offset, bytes.data(), c.size);
  }
}

void WgslDevice::copy_words(const tn_command& c) {
  for (uint64_t done = 0, part; done < c.size; done += part) {
    part = std::min(c.size - done, kPieceBytes);
    gpu_.CommandEncoderCopyBufferToBuffer(encoder(), buffer_of(c.source), c.source_offset + done,
                                          bounce_.get(), 0, part);
    gpu_.CommandEncoderCopyBufferToBuffer(encoder(), bounce_.get(), 0, buffer_of(c.destination),
                                          c.destination_offset + done, part);
  }
}

void WgslDevice::write(WGPUBuffer to, uint64_t offset, const std::byte* from, uint64_t size) {
  flush();  // what is written comes before all that is submitted later
  while (size > 0) {
    uint64_t part = size / 4 * 4;
    const uint64_t first = offset % 4;
    if (first == 0 && part > 0) {
      gpu_.QueueWriteBuffer(queue_.get(), to, offset, from, part);
    } else {  // a word that others share; no kernel runs now
      std::byte word[4];
      part = std::min(4 - first, size);
      read(to, offset - first, word, sizeof word);
      std::memcpy(word + first, from, part);
      gpu_.QueueWriteBuffer(queue_.get(), to, offset - first, word, sizeof word);
    }
    offset += part, from += part, size -= part;
  }
}

void WgslDevice::read(WGPUBuffer from, uint64_t offset, std::byte* to, uint64_t size) {
  while (size > 0) {
    const uint64_t first = offset % 4, part = std::min(size, kPieceBytes - 4);
    const uint64_t bytes = whole_words(first + part);
    gpu_.CommandEncoderCopyBufferToBuffer(encoder(), from, offset - first, readback_.get(), 0,
                                          bytes);
    flush();
    WGPUMapAsyncStatus status{};
    gpu_.BufferMapAsync(readback_.get(), WGPUMapMode_Read, 0, bytes,
                        {nullptr, WGPUCallbackMode_AllowSpontaneous, on_mapped, &status, nullptr});
    gpu_.DevicePoll(handle(), true, nullptr);
    check(TN_ERROR_INTERNAL);
    if (status != WGPUMapAsyncStatus_Success)
      throw sdk::Failure(TN_ERROR_INTERNAL, "webgpu: a buffer was not mapped");
    const void* mapped = gpu_.BufferGetConstMappedRange(readback_.get(), 0, bytes);
    std::memcpy(to, static_cast<const std::byte*>(mapped) + first, part);
    gpu_.BufferUnmap(readback_.get());
    offset += part, to += part, size -= part;
  }
}

void WgslDevice::fill(const tn_command& c) {
  sdk::check_range(c.destination, c.destination_offset, c.size, "a destination");
  std::vector<std::byte> block(std::min(c.size, kPieceBytes));
  for (uint64_t i = 0; i < block.size(); i += c.pattern_size)
    std::memcpy(&block[i], &c.pattern, c.pattern_size);
  for (uint64_t done = 0; done < c.size; done += block.size()) {
    const uint64_t at = c.destination_offset + done,
                   part = std::min<uint64_t>(c.size - done, block.size());
    std::byte* const host = host_data(c.destination, at);
    if (host) std::memcpy(host, block.data(), part);
    if (!host) write(buffer_of(c.destination), at, block.data(), part);
  }
}

}  // namespace tenon::wgsl
