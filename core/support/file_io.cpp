// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/file_io.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "core/support/error.hpp"
#include "core/support/hold_signals.hpp"
#include "core/support/printable.hpp"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;
constexpr size_t kPiece = size_t{1} << 20;

std::string error_text(int error) { return std::strerror(error); }

const char* kind_name(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Throws for a path with a NUL, which C functions would truncate.
void refuse_nul(const fs::path& path) {
  TN_REQUIRE(path.native().find('\0') == std::string::npos,
             "[{}] expected a path without NUL, got one with it", printable_line(path.string()));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  /// 0 or errno. Some file systems report a full disk only here.
  int close() {
    const int number = number_;
    number_ = -1;
    return ::close(number) == 0 ? 0 : errno;
  }

 private:
  int number_;
};

/// 0 or errno.
int write_all(int descriptor, std::span<const std::string_view> parts) {
  const HoldSignals hold;
  for (std::string_view part : parts) {
    while (!part.empty()) {
      const ssize_t put = ::write(descriptor, part.data(), part.size());
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return put < 0 ? errno : ENOSPC;
      part.remove_prefix(static_cast<size_t>(put));
    }
  }
  return 0;
}

[[noreturn]] void cannot_write(const fs::path& path, const std::string& why) {
  fail(ErrorKind::kEnvironment, "[{}] expected to write the file, got: {}", path.string(), why);
}

fs::path folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

/// Refuses files and links that another user planted in a sticky folder such as /tmp, as Linux does
/// with protected_symlinks and protected_regular, which may be off.
void refuse_planted(const fs::path& path, const struct stat& facts) {
  struct stat folder = {};
  if (stat(folder_of(path).c_str(), &folder) != 0) return;
  const bool shared = (folder.st_mode & S_ISVTX) && (folder.st_mode & S_IWOTH);
  if (shared && facts.st_uid != geteuid() && facts.st_uid != folder.st_uid)
    cannot_write(path, "what belongs to another user, in a folder that anyone may write");
}

/// Resolves the last component if it is a symbolic link. The system resolves the others.
fs::path target_of(fs::path path) {
  const fs::path named = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    struct stat facts = {};
    if (lstat(path.c_str(), &facts) != 0) return path;  // creating the file reports the error
    refuse_planted(path, facts);
    if (!S_ISLNK(facts.st_mode)) return path;
    std::error_code error;
    const fs::path link = fs::read_symlink(path, error);
    if (error) cannot_write(named, error.message());
    path = path.parent_path() / link;
  }
  cannot_write(named, error_text(ELOOP));
}

void write_through(const fs::path& path, std::span<const std::string_view> parts) {
  // Without O_NONBLOCK, opening a pipe waits for its other end.
  Descriptor file(open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0)
    cannot_write(path, errno == ENXIO ? "a pipe or a socket that nobody reads" : error_text(errno));
  fcntl(file.get(), F_SETFL, O_WRONLY);
  int error = write_all(file.get(), parts);
  if (error == 0) error = file.close();
  if (error != 0) cannot_write(path, error_text(error));
}

/// A temporary file beside its destination, removed unless it was moved there.
class Temporary {
 public:
  Temporary(const fs::path& path, mode_t mode)
      : path_(folder_of(path) / fmt::format(".tenon-{}.part", random_name())),
        file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)) {
    if (file_.get() < 0) cannot_write(path, error_text(errno));
  }
  ~Temporary() {
    if (!moved_) unlink(path_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  int descriptor() const { return file_.get(); }
  /// 0 or errno.
  int move_to(const fs::path& path, Sync sync) {
    if (sync == Sync::kNow && fsync(file_.get()) != 0) return errno;
    if (const int error = file_.close()) return error;
    if (rename(path_.c_str(), path.c_str()) != 0) return errno;
    moved_ = true;
    return 0;
  }

 private:
  fs::path path_;
  Descriptor file_;
  bool moved_ = false;
};

/// 0 or errno.
int take_after(int descriptor, const struct stat& old) {
  mode_t mode = old.st_mode & 0777;
  struct stat now = {};
  if (fstat(descriptor, &now) != 0) return errno;
  const bool other = now.st_uid != old.st_uid || now.st_gid != old.st_gid;
  // Permissions of the old group must not go to another group.
  if (other && fchown(descriptor, old.st_uid, old.st_gid) != 0) mode &= ~mode_t{S_IRWXG};
  return fchmod(descriptor, mode) == 0 ? 0 : errno;
}

void replace(const fs::path& path, std::span<const std::string_view> parts, Sync sync) {
  struct stat old = {};
  const bool exists = lstat(path.c_str(), &old) == 0;
  if (exists) {
    // A file without write permission must not be replaced either.
    const Descriptor may(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (may.get() < 0) cannot_write(path, error_text(errno));
  }
  Temporary temporary(path, exists ? 0600 : 0666);
  int error = write_all(temporary.descriptor(), parts);
  if (error == 0 && exists) error = take_after(temporary.descriptor(), old);
  if (error == 0) error = temporary.move_to(path, sync);
  if (error != 0) cannot_write(path, error_text(error));
}

[[noreturn]] void cannot_read(const fs::path& path, int error) {
  fail(ErrorKind::kEnvironment, "[{}] expected a readable file, got: {}", path.string(),
       error_text(error));
}

void require_regular(const fs::path& path, mode_t mode) {
  TN_REQUIRE(S_ISREG(mode), "[{}] expected a regular file, got {}", path.string(), kind_name(mode));
}

std::string read_all(int descriptor, const fs::path& path, uint64_t most) {
  struct stat facts = {};
  if (fstat(descriptor, &facts) != 0) cannot_read(path, errno);
  require_regular(path, facts.st_mode);
  const auto size = static_cast<uint64_t>(facts.st_size);
  TN_REQUIRE(size <= most, "[{}] expected at most {} bytes, got {}", path.string(), most, size);
  std::string text;
  size_t filled = 0;
  for (;;) {
    // Files of /proc have size 0, and others may grow, so read until end of file.
    if (filled == text.size()) text.resize(filled == 0 ? size + 1 : filled + kPiece);
    const ssize_t got = ::read(descriptor, text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_read(path, errno);
    filled += static_cast<size_t>(got);
    TN_REQUIRE(filled <= most, "[{}] expected at most {} bytes, got more", path.string(), most);
    if (got == 0) break;
  }
  text.resize(filled);
  return text;
}

}  // namespace

std::string random_name() {
  uint64_t bits[2] = {};
  if (getrandom(bits, sizeof bits, 0) != sizeof bits)
    fail(ErrorKind::kEnvironment, "[random] expected random bytes, got: {}", error_text(errno));
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

std::string read_file(const fs::path& path, uint64_t most_bytes) {
  refuse_nul(path);
  struct stat facts = {};
  // Check before opening, as opening a device may have side effects.
  if (stat(path.c_str(), &facts) != 0) cannot_read(path, errno);
  require_regular(path, facts.st_mode);
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0) cannot_read(path, errno);
  try {
    return read_all(file.get(), path, most_bytes);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::kOutOfMemory, "[{}] expected memory for {} bytes, got none", path.string(),
         facts.st_size);
  }
}

void write_file(const fs::path& path, std::span<const std::string_view> parts, Sync sync) {
  refuse_nul(path);
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode))
    return replace(target_of(path), parts, sync);
  target_of(path);  // only for its checks: the target of /dev/stdout has no name
  write_through(path, parts);
}

void write_file(const fs::path& path, std::string_view text, Sync sync) {
  write_file(path, {&text, 1}, sync);
}

}  // namespace tenon
