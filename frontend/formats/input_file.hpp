// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A regular file that is read in parts, and stays the same one while it is open.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace tenon::formats {

class InputFile {
 public:
  /// Throws kEnvironment for what the system refuses, kInvalid for what is no regular file.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  ///< when it was opened
  /// Throws kEnvironment if the file ends before.
  void read(uint64_t offset, void* data, uint64_t size) const;
  /// The descriptor, which is the caller's from then on.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace tenon::formats
