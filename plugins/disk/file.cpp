// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/disk/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>

#include "sdk/support/failure.hpp"

namespace tenon::disk {
namespace {

constexpr uint64_t kLargestFile = std::numeric_limits<off_t>::max();

/// Blocks SIGXFSZ, which a write beyond RLIMIT_FSIZE raises and which ends the process. The call
/// then returns EFBIG.
class HoldSignal {
 public:
  HoldSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~HoldSignal() {
    const timespec now = {0, 0};
    const int error = errno;
    if (!sigismember(&before_, SIGXFSZ)) sigtimedwait(&signal_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  HoldSignal(const HoldSignal&) = delete;
  HoldSignal& operator=(const HoldSignal&) = delete;

 private:
  sigset_t signal_, before_;
};

std::string error_text(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail_at(const std::string& path, const std::string& expected, int error) {
  const auto status = error == ENOENT || error == ENOTDIR ? TN_ERROR_NOT_FOUND : TN_ERROR_IO;
  throw sdk::Failure(
      status, fmt::format("{}: expected {}, got: {}", path, expected, error_text(error)), error);
}

/// Only one thread grows a file at a time, so that a failure undoes only its own growth.
std::mutex& growth_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

std::shared_ptr<File> File::open(const std::string& path, Mode mode) {
  const bool writes = mode != Mode::kRead;
  const int flags = (writes ? O_RDWR : O_RDONLY) | (mode == Mode::kCreate ? O_CREAT : 0);
  // Without O_NONBLOCK, opening a pipe waits for its other end.
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0) {
    const int error = errno;
    std::string expected = writes ? "a file to read and write" : "a file to read";
    if (mode == Mode::kWrite && error == ENOENT) expected += " (@create makes one)";
    if (writes && (error == EACCES || error == EROFS)) expected += " (@readonly only reads)";
    fail_at(path, expected, error);
  }
  std::shared_ptr<File> file(new File(path, mode, descriptor));
  struct stat facts = {};
  if (fstat(descriptor, &facts) != 0) fail_at(path, "a file", errno);
  if (!S_ISREG(facts.st_mode)) {
    throw sdk::Failure(TN_ERROR_IO,
                       fmt::format("{}: expected a regular file or a folder, got neither", path));
  }
  return file;
}

std::shared_ptr<File> File::unnamed(const std::string& folder, uint64_t size) {
  std::string path = folder + "/tenon-XXXXXX";
  int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {  // an old filesystem
    descriptor = mkostemp(path.data(), O_CLOEXEC);
    if (descriptor >= 0) unlink(path.c_str());
  }
  if (descriptor < 0) fail_at(folder, "a folder for memory", errno);
  std::shared_ptr<File> file(new File("memory in " + folder, Mode::kWrite, descriptor));
  const HoldSignal hold;
  int failed = size <= kLargestFile ? 0 : EFBIG;
  if (!failed && fallocate(descriptor, 0, 0, static_cast<off_t>(size)) != 0) failed = errno;
  file->mappable_ = !failed;
  if (failed == EOPNOTSUPP) failed = ftruncate(descriptor, static_cast<off_t>(size)) ? errno : 0;
  if (failed) {
    throw sdk::Failure(
        TN_ERROR_OUT_OF_MEMORY,
        fmt::format("{}: expected room for {} bytes, got: {}", folder, size, error_text(failed)),
        failed);
  }
  return file;
}

File::~File() { close(descriptor_); }

uint64_t File::size() const {
  struct stat facts = {};
  if (fstat(descriptor_, &facts) != 0) fail_at(path_, "its size", errno);
  return static_cast<uint64_t>(facts.st_size);
}

void File::read(uint64_t at, void* to, uint64_t size) const {
  for (uint64_t done = 0; done < size;) {
    const ssize_t got = pread(descriptor_, static_cast<std::byte*>(to) + done, size - done,
                              static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_at(path_, fmt::format("to read {} bytes at {}", size, at), errno);
    if (got == 0) {
      throw sdk::Failure(TN_ERROR_IO,
                         fmt::format("{}: expected {} bytes at {}, got a file of {} bytes; it was "
                                     "shortened since it was opened",
                                     path_, size, at, this->size()));
    }
    done += static_cast<uint64_t>(got);
  }
}

void File::write(uint64_t at, const void* from, uint64_t size) const {
  const HoldSignal hold;
  for (uint64_t done = 0; done < size;) {
    const ssize_t put = pwrite(descriptor_, static_cast<const std::byte*>(from) + done, size - done,
                               static_cast<off_t>(at + done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0)
      fail_at(path_, fmt::format("to write {} bytes at {}", size, at), put < 0 ? errno : ENOSPC);
    done += static_cast<uint64_t>(put);
  }
}

void File::reserve(uint64_t at, uint64_t size) const {
  const std::string expected = fmt::format("room for {} bytes at {}", size, at);
  if (at > kLargestFile || size > kLargestFile - at) fail_at(path_, expected, EFBIG);
  const std::lock_guard lock(growth_mutex());
  const HoldSignal hold;
  const uint64_t before = this->size();
  if (fallocate(descriptor_, 0, static_cast<off_t>(at), static_cast<off_t>(size)) == 0) return;
  int error = errno;
  // If the filesystem cannot reserve space, move the end; a full disk then fails at the write.
  if (error == EOPNOTSUPP) {
    if (at + size <= before || ftruncate(descriptor_, static_cast<off_t>(at + size)) == 0) return;
    error = errno;
  }
  if (this->size() > before && ftruncate(descriptor_, static_cast<off_t>(before)) != 0)
    fail_at(path_, fmt::format("to be cut back to {} bytes", before), errno);
  fail_at(path_, expected, error);
}

File::Pages File::map(uint64_t at, uint64_t size, bool writable) const {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t skipped = at % page;
  Pages pages;
  pages.length = skipped + size;
  pages.base = mmap(nullptr, pages.length, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                    MAP_SHARED, descriptor_, static_cast<off_t>(at - skipped));
  if (pages.base == MAP_FAILED) fail_at(path_, fmt::format("a map of {} bytes", size), errno);
  pages.data = static_cast<std::byte*>(pages.base) + skipped;
  return pages;
}

/// A read lease delays processes that want to truncate the file. The kernel grants it if nobody has
/// the file open for writing, and defends it for lease-break-time, far longer than a copy.
File::Pages File::pin(uint64_t at, uint64_t size) {
  if (mappable_) return map(at, size, false);
  const std::lock_guard lock(pin_mutex_);
  // SIGURG notifies of a lease break; it is ignored by default.
  if (pins_ == 0 &&
      (fcntl(descriptor_, F_SETSIG, SIGURG) != 0 || fcntl(descriptor_, F_SETLEASE, F_RDLCK) != 0)) {
    throw sdk::Failure(
        TN_ERROR_UNSUPPORTED,
        fmt::format("{}: expected a lease on the file, got: {}", path_, error_text(errno)), errno);
  }
  ++pins_;
  try {
    if (this->size() < at + size) fail_at(path_, fmt::format("{} bytes at {}", size, at), ENODATA);
    return map(at, size, false);
  } catch (...) {
    if (--pins_ == 0) fcntl(descriptor_, F_SETLEASE, F_UNLCK);
    throw;
  }
}

void File::unpin(Pages pages) {
  unmap(pages);
  if (mappable_) return;
  const std::lock_guard lock(pin_mutex_);
  if (--pins_ == 0) fcntl(descriptor_, F_SETLEASE, F_UNLCK);
}

void unmap(File::Pages pages) {
  if (pages.base) munmap(pages.base, pages.length);
}

}  // namespace tenon::disk
