// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A value for each process, for drivers with threads, such as an instance of a driver.
#pragma once

#include <unistd.h>

#include <mutex>

namespace tenon::sdk {

/// Made at first use and never destroyed, as threads of the driver may outlive main(). A child of
/// fork makes its own, as it lacks the threads of its parent.
template <class Value>
class PerProcess {
 public:
  /// `make` returns a std::unique_ptr<Value>. If it throws, the next call tries again.
  template <class Make>
  Value& get(const Make& make) {
    const std::lock_guard lock(mutex_);
    if (process_ != getpid()) {
      value_ = make().release();
      process_ = getpid();
    }
    return *value_;
  }

 private:
  std::mutex mutex_;
  pid_t process_ = 0;
  Value* value_ = nullptr;
};

}  // namespace tenon::sdk
