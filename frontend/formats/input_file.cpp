// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/formats/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/support/error.hpp"

namespace tenon::formats {
namespace {

constexpr uint64_t kMostAtOnce = uint64_t{1} << 30;

[[noreturn]] void cannot_read(const std::string& path, const char* why) {
  fail(ErrorKind::kEnvironment, "{}: expected a readable file, got: {}", path, why);
}

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  TN_REQUIRE(path_.find('\0') == std::string::npos, "{}: expected a path without NUL",
             path_.c_str());
  struct stat facts = {};
  // Before it is opened, for opening a device can do something to it.
  if (stat(path_.c_str(), &facts) != 0) cannot_read(path_, std::strerror(errno));
  TN_REQUIRE(S_ISREG(facts.st_mode), "{}: expected a regular file, got another kind", path_);
  descriptor_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor_ < 0) cannot_read(path_, std::strerror(errno));
  if (fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    close(descriptor_);
    cannot_read(path_, "a file that changed while it was opened");
  }
  size_ = static_cast<uint64_t>(facts.st_size);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void InputFile::read(uint64_t offset, void* data, uint64_t size) const {
  auto* to = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got =
        pread(descriptor_, to, std::min(size, kMostAtOnce), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_read(path_, std::strerror(errno));
    if (got == 0) cannot_read(path_, "one that became shorter");
    to += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<uint64_t>(got);
  }
}

}  // namespace tenon::formats
