// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Closes open devices when the process ends, and handles fork.
//
// exit() runs handlers and the destructors of static objects in reverse order of their registration
// or construction. Drivers have such objects too, some constructed by the first launch of a kernel.
// So the handler that closes all devices is registered again after first launches. It then runs
// before their destructors, and after those of objects that the application constructed since.
#pragma once

#include <memory>
#include <new>
#include <string>

#include "core/support/process.hpp"

namespace tenon {

class ClosedAtExit {
 public:
  virtual ~ClosedAtExit() = default;
  /// Waits for all queued work.
  virtual void drain() noexcept = 0;
  /// The same before a fork; failures stay to be reported.
  virtual void drain_before_fork() noexcept = 0;
  /// Releases everything to the plugin. All devices are drained and no thread is in a call.
  virtual void close() noexcept = 0;
};

/// Drains and closes `device` at exit, if it still exists; the last opened first. `id` names its
/// driver, which is loaded.
void close_at_exit(const std::shared_ptr<ClosedAtExit>& device, const std::string& id);
/// To be called after first launches: registers the handler again, so that devices are closed
/// before static objects of drivers are destroyed.
void first_launches_ended();
/// Throws kInvalid "[exit] ..." once the devices are closed. Threads other than the exiting one
/// wait first: usually the process ends before they return.
void require_running();

/// Marks a thread as being in a call of a device. Closing and fork wait for it. Calls may nest.
class InUse {
 public:
  /// Throws as require_running does, and kInvalid "[fork] ..." in a child of the process `made_in`.
  explicit InUse(const Birthplace& made_in);
  /// For destructors: converts to false instead of throwing.
  InUse(const Birthplace& made_in, std::nothrow_t) noexcept;
  ~InUse();
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  explicit operator bool() const { return entered_; }

 private:
  const ForkHold hold_;
  bool entered_ = false;
};

/// To be called first by threads of queues, which make calls for others. If a plugin exits within
/// such a call, nothing can be waited for.
void always_in_use() noexcept;

/// Throws kInvalid "[fork] ..." in a child of the process where `what` was made.
void require_native(const Birthplace& made_in, const char* what);
/// Leaks an object that a child of fork can neither use nor destroy. It stays reachable.
void leak(std::shared_ptr<void> object);

}  // namespace tenon
