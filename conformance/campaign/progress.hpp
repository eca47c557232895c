// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One line on a terminal that is written over.
#pragma once

#include <chrono>
#include <string>

namespace tenon::conformance::campaign {

class ProgressLine {
 public:
  explicit ProgressLine(bool shown) : shown_(shown) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool due();  ///< shown, and not for a moment
  void show(const std::string& line);
  void clear();

 private:
  bool shown_, dirty_ = false;
  std::chrono::steady_clock::time_point last_;
};

/// "1 h 02 min", "3 min 20 s", "12 s".
std::string duration_text(double seconds);

}  // namespace tenon::conformance::campaign
