// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

namespace tenon {
namespace {

/// errno of the first failed write; later ones may differ.
int& first_error() {
  static int error = 0;
  return error;
}

void note_error(bool failed) {
  if (failed && first_error() == 0) first_error() = errno != 0 ? errno : EIO;
}

}  // namespace

bool use_color() {
  const char* off = std::getenv("NO_COLOR");
  return !(off != nullptr && *off != '\0') && isatty(STDOUT_FILENO);
}

Painted paint(std::string_view text, const char* code) {
  const std::string name = printable_line(text);
  return {use_color() ? fmt::format("\033[{}m{}\033[0m", code, name) : name};
}

void write_output(std::string_view text) {
  errno = 0;
  note_error(std::fwrite(text.data(), 1, text.size(), stdout) != text.size());
}

void complain(std::string_view program, std::string_view message) {
  std::string out = fmt::format("{}: ", printable_line(program));
  for (const char c : printable(message)) out += c == '\n' ? "\n  " : std::string(1, c);
  out += '\n';
  std::fwrite(out.data(), 1, out.size(), stderr);
}

void open_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // Open for the wrong direction, so that writes fail instead of vanishing. open() takes the
    // lowest free number.
    const int opened =
        open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY | O_NOCTTY);
    if (opened != descriptor && opened >= 0) close(opened);
  }
}

int finish_output(std::string_view program, int code, int fault) {
  errno = 0;
  note_error(std::fflush(stdout) != 0 || std::ferror(stdout) != 0);
  std::cout.flush();  // after it, as it would overwrite errno
  note_error(!std::cout);
  if (first_error() == 0) return code;
  complain(program, fmt::format("[output] expected to write standard output, got: {}",
                                std::strerror(first_error())));
  return code == 0 ? fault : code;
}

}  // namespace tenon
