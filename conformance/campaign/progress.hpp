// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far a run is: one line on a terminal that is written over, or a plain line now and then.
#pragma once

#include <chrono>
#include <string>

namespace tenon::conformance::campaign {

class ProgressLine {
 public:
  /// On standard error, like all that it says.
  enum class Form : uint8_t { kNone, kPlain, kLive };

  explicit ProgressLine(Form form) : form_(form) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool due();  ///< shown, and not for a moment, or half a minute
  void show(const std::string& line);
  /// A line that stays, in either form.
  void say(const std::string& line);
  void clear();

 private:
  Form form_;
  bool dirty_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// "1 h 02 min", "3 min 20 s", "12 s".
std::string duration_text(double seconds);

}  // namespace tenon::conformance::campaign
