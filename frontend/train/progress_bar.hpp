// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The line of a running loop on a terminal.
#pragma once

#include <chrono>

#include "tenon/train/progress.hpp"

namespace tenon::train {

/// Shows nothing unless standard error is a terminal that can go back to the begin of a line.
class ProgressBar {
 public:
  explicit ProgressBar(bool wanted);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// At most ten times a second, and always the last.
  void show(const Report& report);

 private:
  bool shows_ = false, paints_ = false;
  bool is_begun_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace tenon::train
