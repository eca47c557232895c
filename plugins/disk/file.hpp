// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One open file. Every error names the path, what was expected and what was found, and leaves the
// file as it was; none is a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace tenon::disk {

class File {
 public:
  enum class Mode { kRead, kWrite, kCreate };

  /// Throws TN_ERROR_NOT_FOUND for a missing one, TN_ERROR_IO for all else.
  static std::shared_ptr<File> open(const std::string& path, Mode mode);
  /// A file without a name in a folder, gone when it is closed. Throws TN_ERROR_OUT_OF_MEMORY if
  /// its `size` bytes cannot be reserved.
  static std::shared_ptr<File> unnamed(const std::string& folder, uint64_t size);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  bool writable() const { return mode_ != Mode::kRead; }
  /// No other process has it and no page of it can be missing, so that a mapping is safe.
  bool mappable() const { return mappable_; }
  uint64_t size() const;

  /// All bytes of the range, or TN_ERROR_IO.
  void read(uint64_t at, void* to, uint64_t size) const;
  void write(uint64_t at, const void* from, uint64_t size) const;
  /// Room for the range, growing the file; after a failure its size is what it was.
  void reserve(uint64_t at, uint64_t size) const;

  /// Pages of a range; throws TN_ERROR_UNSUPPORTED if they could vanish. Ends with unpin.
  struct Pages {
    void* base = nullptr;  ///< of the mapping, on a page boundary
    size_t length = 0;
    std::byte* data = nullptr;  ///< of the range
  };
  Pages map(uint64_t at, uint64_t size, bool writable) const;
  Pages pin(uint64_t at, uint64_t size);
  void unpin(Pages pages);

 private:
  File(std::string path, Mode mode, int descriptor)
      : path_(std::move(path)), mode_(mode), descriptor_(descriptor) {}

  std::string path_;
  Mode mode_;
  int descriptor_;
  bool mappable_ = false;
  std::mutex pin_mutex_;
  int pins_ = 0;  ///< that share the lease
};

/// Ends a mapping.
void unmap(File::Pages pages);

}  // namespace tenon::disk
