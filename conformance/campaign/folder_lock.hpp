// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run at a time writes into a folder of reports: two would overwrite each other's files.
#pragma once

#include <filesystem>

namespace tenon::conformance::campaign {

class FolderLock {
 public:
  /// Makes the folder. Throws kEnvironment if it cannot be made, or another process holds it.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;  ///< of the folder itself, so that the lock ends with the process
};

}  // namespace tenon::conformance::campaign
