// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An open file. Every error names the path, the expected and the actual state, and leaves the file
// unchanged. No error raises a signal.
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

  /// Throws TN_ERROR_NOT_FOUND for a missing file, else TN_ERROR_IO.
  static std::shared_ptr<File> open(const std::string& path, Mode mode);
  /// An unnamed file in a folder, deleted when closed. Throws TN_ERROR_OUT_OF_MEMORY if its `size`
  /// bytes cannot be reserved.
  static std::shared_ptr<File> unnamed(const std::string& folder, uint64_t size);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  bool writable() const { return mode_ != Mode::kRead; }
  /// Whether a mapping is safe: no other process has the file, and no page can be missing.
  bool mappable() const { return mappable_; }
  uint64_t size() const;

  /// Reads all bytes of the range, or throws TN_ERROR_IO.
  void read(uint64_t at, void* to, uint64_t size) const;
  void write(uint64_t at, const void* from, uint64_t size) const;
  /// Reserves space for the range and grows the file. A failure leaves its size unchanged.
  void reserve(uint64_t at, uint64_t size) const;

  /// Maps pages of a range until unpin. Throws TN_ERROR_UNSUPPORTED if they could vanish.
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
  int pins_ = 0;  ///< number of pins that share the lease
};

/// Ends a mapping.
void unmap(File::Pages pages);

}  // namespace tenon::disk
