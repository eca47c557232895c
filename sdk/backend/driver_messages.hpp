// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects messages that a driver reports by callback, at any time and on any thread.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "sdk/support/failure.hpp"

namespace tenon::sdk {

class DriverMessages {
 public:
  void add(std::string_view text) {
    const std::lock_guard lock(mutex_);
    messages_.append(messages_.empty() ? "" : "; ").append(text);
  }
  /// Throws TN_ERROR_INTERNAL with `source` and the messages since the last call, if there are any.
  void check(const std::string& source) {
    const std::lock_guard lock(mutex_);
    if (messages_.empty()) return;
    throw Failure(TN_ERROR_INTERNAL, source + ": " + std::exchange(messages_, {}));
  }

 private:
  std::mutex mutex_;
  std::string messages_;
};

}  // namespace tenon::sdk
