// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/support/error.hpp"

namespace tenon::conformance::campaign {

FolderLock::FolderLock(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  fd_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0)
    fail(ErrorKind::kEnvironment, "[report] expected a folder that can be made at {}, got: {}",
         folder.string(), error ? error.message() : std::strerror(errno));
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
  const int reason = errno;
  ::close(fd_);
  // Where a file system has no locks a run goes without.
  fd_ = -1;
  if (reason == EWOULDBLOCK)
    fail(ErrorKind::kEnvironment,
         "[report] expected a folder that no other run writes to, got {}, which one does",
         folder.string());
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace tenon::conformance::campaign
