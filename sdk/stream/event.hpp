// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An event: is reached when work of a device has ended.
#pragma once

namespace tenon::sdk {

class Event {
 public:
  virtual ~Event() = default;
  /// Whether it is reached. Throws the failure of the device.
  virtual bool is_reached() const = 0;
  /// Waits until it is reached. Throws the failure of the device.
  virtual void synchronize() const = 0;
  /// The queue. Events of one queue are reached in the order in which they were promised.
  virtual const void* queue() const = 0;
};

}  // namespace tenon::sdk
