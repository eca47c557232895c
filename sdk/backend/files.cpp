// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts C calls to calls of files.hpp.
#include "sdk/backend/files.hpp"

#include <fmt/format.h>

namespace tenon::sdk {
namespace {

const FileDevice& device_at(tn_device* device) {
  require(device, "files: expected a device, got null");
  return static_cast<const FileDevice&>(*device_of(device));
}

FileMemory& range_at(tn_memory* memory, uint64_t offset, uint64_t size) {
  require(memory, "files: expected memory, got null");
  const uint64_t whole = memory_of(memory)->size();
  if (offset > whole || size > whole - offset) {
    throw Failure(TN_ERROR_INVALID_ARGUMENT, fmt::format("files: expected a range of {} bytes, got "
                                                         "{} at {}",
                                                         whole, size, offset));
  }
  return static_cast<FileMemory&>(*memory_of(memory));
}

int32_t file_size(tn_device* device, uint64_t* out_size, tn_error* error) {
  return guarded(error, [&] {
    require(out_size, "file_size: expected out_size, got null");
    *out_size = device_at(device).file_size();
  });
}

int32_t open_range(tn_device* device, uint64_t offset, uint64_t size, uint32_t flags,
                   tn_memory** out_memory, tn_error* error) {
  return guarded(error, [&] {
    require(out_memory, "open_range: expected out_memory, got null");
    require(size > 0, "open_range: expected a size above 0");
    require((flags & ~TN_FILES_WRITE) == 0, "open_range: expected known flags");
    Memory* memory = device_at(device).open_range(offset, size, flags & TN_FILES_WRITE).release();
    *out_memory = reinterpret_cast<tn_memory*>(memory);
  });
}

int32_t read(tn_memory* memory, uint64_t offset, uint64_t size, void* to, tn_error* error) {
  return guarded(error, [&] {
    require(to || size == 0, "read: expected a destination, got null");
    range_at(memory, offset, size).read(offset, to, size);
  });
}

int32_t write(tn_memory* memory, uint64_t offset, uint64_t size, const void* from,
              tn_error* error) {
  return guarded(error, [&] {
    require(from || size == 0, "write: expected a source, got null");
    range_at(memory, offset, size).write(offset, from, size);
  });
}

int32_t pin(tn_memory* memory, uint64_t offset, uint64_t size, void** out_pointer,
            tn_error* error) {
  return guarded(error, [&] {
    require(out_pointer && size > 0, "pin: expected out_pointer and a size above 0");
    *out_pointer = range_at(memory, offset, size).pin(offset, size);
  });
}

}  // namespace

const tn_files& files_table() {
  static const tn_files table = [] {
    tn_files files = TN_INIT(tn_files);
    files.file_size = file_size;
    files.open_range = open_range;
    files.read = read;
    files.write = write;
    files.pin = pin;
    files.unpin = [](tn_memory* memory) { range_at(memory, 0, 0).unpin(); };
    return files;
  }();
  return table;
}

}  // namespace tenon::sdk
