// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of open devices when the process ends, and in a child made by fork.
//
// exit() runs handlers and the destructors of static objects in reverse order of their registration
// or construction. Drivers have such objects too, some made while a kernel runs for the first time.
// So the handler that closes all devices is registered again when new kernels have run: it comes
// before them, and after the objects that an application has made since.
#pragma once

#include <memory>
#include <new>
#include <string>

#include "core/support/process.hpp"

namespace tenon {

class ClosedAtExit {
 public:
  virtual ~ClosedAtExit() = default;
  /// Waits for all that is queued.
  virtual void drain() noexcept = 0;
  /// The same before a fork: what failed is left to be told.
  virtual void rest() noexcept = 0;
  /// Gives everything back to the plugin. All devices have been drained, and nobody is in a call.
  virtual void close() noexcept = 0;
};

/// Drains and closes `device` at the end, if it is still there; those opened last come first. `id`
/// stands for its driver, which has been loaded.
void close_at_exit(const std::shared_ptr<ClosedAtExit>& device, const std::string& id);
/// What a driver makes for kernels that it has not had before is there: closing comes before its
/// destruction.
void new_work_has_ended();
/// Throws kInvalid "[exit] ..." once the devices are closed. Threads other than the one that ends
/// the process are held back a while first: mostly, the process has ended before they are told.
void require_running();

/// A caller's thread in a call of a device: the closing waits for it, and so does fork. Calls may
/// nest.
class InUse {
 public:
  /// Throws as require_running, and kInvalid "[fork] ..." in a child of the process named.
  explicit InUse(const Birthplace& made_in);
  /// For destructors: false instead.
  InUse(const Birthplace& made_in, std::nothrow_t) noexcept;
  ~InUse();
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  explicit operator bool() const { return entered_; }

 private:
  const ForkHold hold_;
  bool entered_ = false;
};

/// Said first by a thread of a queue, which makes the calls of others: where a plugin ends the
/// process from within one, nothing can be waited for, as in a call of one's own.
void always_in_use() noexcept;

/// Throws kInvalid "[fork] ..." in a child of the process where `what` was made.
void require_native(const Birthplace& made_in, const char* what);
/// For what a child can neither use nor destroy: it stays reachable.
void keep_for_ever(std::shared_ptr<void> object);

}  // namespace tenon
