// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/train/progress_bar.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tenon::train {
namespace {

int columns() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

ProgressBar::ProgressBar(bool wanted) {
  const char* const terminal = std::getenv("TERM");
  const char* const plain = std::getenv("NO_COLOR");
  shows_ = wanted && isatty(STDERR_FILENO) && !(terminal && std::string_view(terminal) == "dumb");
  paints_ = !(plain && *plain != '\0');
}

ProgressBar::~ProgressBar() {
  if (is_begun_) std::fputc('\n', stderr);
}

void ProgressBar::show(const Report& report) {
  const auto now = std::chrono::steady_clock::now();
  if (!shows_ ||
      (report.step < report.steps && is_begun_ && now - last_ < std::chrono::milliseconds(100)))
    return;
  last_ = now;
  is_begun_ = true;
  const std::string line = progress_line(report, columns() - 1);
  // The rest of an older, longer line is erased.
  std::fprintf(stderr, "\r%s%s%s\x1b[K", paints_ ? "\x1b[32m" : "", line.c_str(),
               paints_ ? "\x1b[0m" : "");
  std::fflush(stderr);
}

}  // namespace tenon::train
