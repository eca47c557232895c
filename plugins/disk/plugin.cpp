// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The backend `disk`: a file, or a folder, as a device with memory only.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "plugins/disk/memory.hpp"
#include "sdk/backend/property_table.hpp"

namespace tenon::disk {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kCopyPiece = uint64_t{1} << 20;
constexpr uint32_t kAlignment = 4096;  ///< a page, so that pinned ranges begin at a page

DiskMemory& memory_at(tn_memory* memory) {
  return static_cast<DiskMemory&>(*sdk::memory_of(memory));
}

void copy(const tn_command& c) {
  const DiskMemory& from = memory_at(c.source);
  const DiskMemory& to = memory_at(c.destination);
  if (to.overlaps(c.destination_offset, from, c.source_offset, c.size))
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "copy: expected ranges that do not overlap");
  std::vector<std::byte> bytes(std::min(c.size, kCopyPiece));
  for (uint64_t done = 0; done < c.size;) {
    const uint64_t piece = std::min(c.size - done, kCopyPiece);
    from.read(c.source_offset + done, bytes.data(), piece);
    to.write(c.destination_offset + done, bytes.data(), piece);
    done += piece;
  }
}

void fill(const tn_command& c) {
  std::vector<std::byte> bytes(std::min(c.size, kCopyPiece));
  for (size_t i = 0; i < bytes.size(); i += c.pattern_size)
    std::memcpy(bytes.data() + i, &c.pattern, c.pattern_size);
  for (uint64_t done = 0; done < c.size;) {
    const uint64_t piece = std::min(c.size - done, kCopyPiece);
    memory_at(c.destination).write(c.destination_offset + done, bytes.data(), piece);
    done += piece;
  }
}

bool take_flag(sdk::Options& options, std::string_view key) {
  const auto value = options.take(key);
  if (value && !value->empty()) {
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT,
                       fmt::format("option {}: expected no value, got \"{}\"", key, *value));
  }
  return value.has_value();
}

/// Folder for memory without a path. Not /tmp, which is often in memory itself.
std::string scratch_folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen && *chosen ? chosen : "/var/tmp";
}

class DiskDevice : public sdk::FileDevice {
 public:
  /// Takes path, readonly and create out of the options.
  explicit DiskDevice(sdk::Options& options);

  const tn_properties& properties() const override;
  /// Allocates in an unnamed file, in the folder or beside the file.
  std::unique_ptr<sdk::Memory> allocate(uint32_t space, uint64_t size) override;
  /// Runs copies and fills.
  void submit(const sdk::Submission& submission) override;
  uint64_t file_size() const override { return file().size(); }
  std::unique_ptr<sdk::FileMemory> open_range(uint64_t offset, uint64_t size,
                                              bool writable) const override;

 private:
  const File& file() const;  ///< throws TN_ERROR_UNSUPPORTED for a folder

  std::shared_ptr<File> file_;  ///< null: a folder
  std::string folder_;
};

DiskDevice::DiskDevice(sdk::Options& options) {
  const std::string path = options.take("path").value_or("");
  const bool readonly = take_flag(options, "readonly"), create = take_flag(options, "create");
  if (readonly && create)
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "expected @readonly or @create, got both");
  if (path.empty()) {
    folder_ = scratch_folder();
    return;
  }
  std::error_code error;
  if (fs::is_directory(path, error)) {
    folder_ = path;
    if (readonly || create) {
      throw sdk::Failure(
          TN_ERROR_INVALID_ARGUMENT,
          fmt::format("{}: expected a file with @readonly or @create, got a folder", path));
    }
    return;
  }
  folder_ = fs::absolute(path).parent_path().string();
  file_ = File::open(
      path, readonly ? File::Mode::kRead : (create ? File::Mode::kCreate : File::Mode::kWrite));
}

const tn_properties& DiskDevice::properties() const {
  static const sdk::PropertyTable* const table = [] {
    auto* t = new sdk::PropertyTable(0);
    tn_memory_space space = TN_INIT(tn_memory_space);
    space.flags = TN_MEMORY_HOST_VISIBLE;
    space.alignment = kAlignment;
    space.copy_from = 1;
    t->store_all().add_memory(space);
    return t;
  }();
  return table->get();
}

std::unique_ptr<sdk::Memory> DiskDevice::allocate(uint32_t, uint64_t size) {
  if (file_ && !file_->writable()) {
    throw sdk::Failure(
        TN_ERROR_UNSUPPORTED,
        fmt::format("{}: expected a device that is not @readonly to hold memory", file_->path()));
  }
  return std::make_unique<DiskMemory>(File::unnamed(folder_, size), 0, size, true);
}

void DiskDevice::submit(const sdk::Submission& submission) {
  if (submission.wait_count() || submission.signal_count())
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "submit: expected no waits and no signals");
  for (uint32_t i = 0; i < submission.command_count(); ++i) {
    const tn_command command = submission.command(i);
    if (command.kind == TN_COMMAND_LAUNCH)
      throw sdk::Failure(TN_ERROR_UNSUPPORTED, "submit: expected copies and fills, got a launch");
    if (command.size == 0) continue;
    command.kind == TN_COMMAND_COPY ? copy(command) : fill(command);
  }
}

const File& DiskDevice::file() const {
  if (file_) return *file_;
  throw sdk::Failure(TN_ERROR_UNSUPPORTED,
                     fmt::format("{}: expected a device of a file, got one of a folder", folder_));
}

std::unique_ptr<sdk::FileMemory> DiskDevice::open_range(uint64_t offset, uint64_t size,
                                                        bool writes) const {
  const uint64_t whole = file().size();
  if (writes && !file().writable()) {
    throw sdk::Failure(
        TN_ERROR_IO,
        fmt::format("{}: expected a file opened to write, got @readonly", file().path()));
  }
  if (!writes && (offset > whole || size > whole - offset)) {
    throw sdk::Failure(TN_ERROR_IO,
                       fmt::format("{}: expected {} bytes at {}, got a file of {} bytes",
                                   file().path(), size, offset, whole));
  }
  if (writes) file().reserve(offset, size);
  return std::make_unique<DiskMemory>(file_, offset, size, writes);
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
    return id == TN_FILES_ID ? &sdk::files_table() : nullptr;
  }
};

}  // namespace
}  // namespace tenon::disk

using tenon::disk::DiskBackend;
TENON_BACKEND(DiskBackend)
