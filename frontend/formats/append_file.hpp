// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A regular file that grows by whole records.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::formats {

class AppendFile {
 public:
  /// kNew: throws kInvalid if there is a file of that name; kOld: makes one if there is none.
  enum class Open { kNew, kOld };
  AppendFile(std::string path, Open open);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  /// The first line without its end, "" of an empty file. Throws kInvalid for one above 1 MiB.
  std::string first_line() const;
  /// Forgets what follows the last line end: of a process that was killed while it wrote.
  void cut_unfinished_line();
  /// All of the data is in the file at the end, or none and an Error of kind kEnvironment.
  void append(std::string_view data);

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace tenon::formats
