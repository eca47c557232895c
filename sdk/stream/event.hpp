// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When something that a device does has ended.
#pragma once

namespace tenon::sdk {

class Event {
 public:
  virtual ~Event() = default;
  /// Throws the failure of the device.
  virtual bool is_reached() const = 0;
  /// Returns when it is reached; throws the failure of the device.
  virtual void synchronize() const = 0;
  /// Events of one queue are reached in the order in which they were promised.
  virtual const void* queue() const = 0;
};

}  // namespace tenon::sdk
