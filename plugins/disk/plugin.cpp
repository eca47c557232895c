// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The backend `disk`: files as memory.
#include <string_view>

#include "plugins/disk/device.hpp"
#include "sdk/helpers/property_table.hpp"
#include "tenon/ext/files.h"

namespace tenon::disk {
namespace {

void require(bool condition, const char* message) {
  if (!condition) throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, message);
}

FileMemory& memory_at(tn_memory* memory) {
  require(memory, "files: expected memory, got null");
  return static_cast<FileMemory&>(*sdk::memory_of(memory));
}

const DiskDevice& device_at(tn_device* device) {
  require(device, "files: expected a device, got null");
  return static_cast<const DiskDevice&>(*sdk::device_of(device));
}

tn_files make_files() {
  tn_files files = TN_INIT(tn_files);
  files.file_size = [](tn_device* device, uint64_t* out, tn_error* error) {
    return sdk::guarded(error, [&] {
      require(out, "file_size: expected out_size, got null");
      *out = device_at(device).file_size();
    });
  };
  files.open_range = [](tn_device* device, uint64_t offset, uint64_t size, uint32_t flags,
                        tn_memory** out, tn_error* error) {
    return sdk::guarded(error, [&] {
      require(out, "open_range: expected out_memory, got null");
      sdk::Memory* memory = device_at(device).open_range(offset, size, flags).release();
      *out = reinterpret_cast<tn_memory*>(memory);
    });
  };
  files.read = [](tn_memory* memory, uint64_t offset, uint64_t size, void* to, tn_error* error) {
    return sdk::guarded(error, [&] {
      require(to || size == 0, "read: expected a destination, got null");
      memory_at(memory).read(offset, to, size);
    });
  };
  files.write = [](tn_memory* memory, uint64_t offset, uint64_t size, const void* from,
                   tn_error* error) {
    return sdk::guarded(error, [&] {
      require(from || size == 0, "write: expected a source, got null");
      memory_at(memory).write(offset, from, size);
    });
  };
  files.pin = [](tn_memory* memory, uint64_t offset, uint64_t size, void** out, tn_error* error) {
    return sdk::guarded(error, [&] {
      require(out && size > 0, "pin: expected out_pointer and a size above 0");
      *out = memory_at(memory).pin(offset, size);
    });
  };
  files.unpin = [](tn_memory* memory) { memory_at(memory).unpin(); };
  return files;
}

class DiskBackend : public sdk::Backend {
 public:
  static constexpr sdk::BackendInfo kInfo = {"disk", TENON_VERSION,
                                             "Apache-2.0 WITH LLVM-exception"};

  std::vector<tn_device_info> enumerate(std::string&) override {
    return {sdk::device_info(TN_DEVICE_STORAGE, "files as memory", "file")};
  }
  std::unique_ptr<sdk::Device> open(uint32_t, sdk::Options& options) override {
    return std::make_unique<DiskDevice>(options);
  }
  const void* extension(std::string_view id) override {
    static const tn_files files = make_files();
    return id == TN_FILES_ID ? &files : nullptr;
  }
};

}  // namespace
}  // namespace tenon::disk

using tenon::disk::DiskBackend;
TENON_BACKEND(DiskBackend)
