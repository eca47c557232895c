// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/worker/channel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

namespace tenon::conformance::worker {
namespace {

/// Above what a plugin gets when it opens files.
constexpr int kFirstMoved = 700;

bool is_same(int fd, const struct stat& before) {
  struct stat now {};
  return fstat(fd, &now) == 0 && now.st_dev == before.st_dev && now.st_ino == before.st_ino;
}

}  // namespace

Channel::End Channel::move(int fd) {
  End end;
  end.moved = fcntl(fd, F_DUPFD_CLOEXEC, kFirstMoved);
  // A low limit of descriptors leaves it where it is.
  if (end.moved < 0) end.moved = fd;
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  if (fstat(fd, &end.identity) != 0) _exit(kExitNoPipe);
  return end;
}

Channel::Channel() : commands_(move(kCommandFd)), results_(move(kResultFd)) {
  if (!line(token_)) _exit(0);
}

void Channel::send(const Message& message) {
  const std::string line = token_ + ' ' + write_message(message) + '\n';
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t n = write(results_.moved, line.data() + sent, line.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(errno == EPIPE ? 0 : kExitNoPipe);
    sent += static_cast<size_t>(n);
  }
}

bool Channel::line(std::string& out) {
  for (;;) {
    if (const size_t end = buffer_.find('\n'); end != buffer_.npos) {
      out = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return true;
    }
    if (!more()) return false;
  }
}

bool Channel::bytes(size_t count, std::string& out) {
  while (buffer_.size() < count)
    if (!more()) return false;
  out = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return true;
}

bool Channel::more() {
  char chunk[1 << 16];
  ssize_t n;
  do {
    n = read(commands_.moved, chunk, sizeof chunk);
  } while (n < 0 && errno == EINTR);
  if (n < 0) _exit(kExitNoPipe);
  if (n == 0) return false;
  buffer_.append(chunk, static_cast<size_t>(n));
  return true;
}

std::string Channel::damage() const {
  if (is_same(kCommandFd, commands_.identity) && is_same(kResultFd, results_.identity)) return {};
  const int fd = is_same(kCommandFd, commands_.identity) ? kResultFd : kCommandFd;
  return fmt::format("the plugin closed file descriptor {}, which was not its own", fd);
}

}  // namespace tenon::conformance::worker
