// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/formats/append_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/support/error.hpp"

namespace tenon::formats {
namespace {

constexpr uint64_t kMostLine = uint64_t{1} << 20;

[[noreturn]] void cannot_write(const std::string& path, const char* why) {
  fail(ErrorKind::kEnvironment, "{}: expected to write the file, got: {}", path, why);
}

}  // namespace

AppendFile::AppendFile(std::string path, Open how) : path_(std::move(path)) {
  TN_REQUIRE(path_.find('\0') == std::string::npos, "{}: expected a path without NUL",
             path_.c_str());
  const int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  descriptor_ = open(path_.c_str(), flags | (how == Open::kNew ? O_EXCL : 0), 0666);
  if (descriptor_ < 0) {
    TN_REQUIRE(errno != EEXIST, "{}: expected a new name, got one of another file", path_);
    cannot_write(path_, std::strerror(errno));
  }
  struct stat facts = {};
  if (fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    close(descriptor_);
    cannot_write(path_, "one that is not regular");
  }
  size_ = static_cast<uint64_t>(facts.st_size);
}

AppendFile::~AppendFile() { close(descriptor_); }

std::string AppendFile::first_line() const {
  std::string text(std::min(size_, kMostLine), '\0');
  const ssize_t got = pread(descriptor_, text.data(), text.size(), 0);
  if (got < 0) cannot_write(path_, std::strerror(errno));
  text.resize(static_cast<size_t>(got));
  const size_t end = text.find('\n');
  TN_REQUIRE(end != std::string::npos || text.size() < kMostLine,
             "{}: expected lines of less than {} bytes, got a longer one", path_, kMostLine);
  return text.substr(0, end);
}

void AppendFile::cut_unfinished_line() {
  uint64_t end = size_;
  for (char last = 0; end > 0; --end) {
    if (pread(descriptor_, &last, 1, static_cast<off_t>(end - 1)) != 1)
      cannot_write(path_, "one that cannot be read");
    if (last == '\n') break;
    TN_REQUIRE(size_ - end < kMostLine,
               "{}: expected lines of less than {} bytes, got a longer one", path_, kMostLine);
  }
  if (end == size_) return;
  if (ftruncate(descriptor_, static_cast<off_t>(end)) != 0)
    cannot_write(path_, std::strerror(errno));
  size_ = end;
}

void AppendFile::append(std::string_view data) {
  for (std::string_view rest = data; !rest.empty();) {
    const ssize_t put = write(descriptor_, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      const int error = put < 0 ? errno : ENOSPC;
      const bool is_cut = ftruncate(descriptor_, static_cast<off_t>(size_)) == 0;
      cannot_write(path_, is_cut ? std::strerror(error) : "an error, and part of a record stays");
    }
    rest.remove_prefix(static_cast<size_t>(put));
  }
  size_ += data.size();
}

}  // namespace tenon::formats
