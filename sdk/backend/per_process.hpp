// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a driver keeps threads for, as an instance of it.
#pragma once

#include <unistd.h>

#include <mutex>

namespace tenon::sdk {

/// Made when first asked for, and never destroyed: the driver's threads may outlive main(). A child
/// made by fork makes its own, as the threads of its parent's are not there.
template <class Value>
class PerProcess {
 public:
  /// `make` gives a std::unique_ptr<Value>; what it throws is thrown, and made anew next time.
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
