// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host memory that stands for a range of a device's slab. Internal to DeviceImpl.
#pragma once

#include "core/device/device_impl.hpp"

namespace tenon {

inline constexpr uint64_t kStagingBytes = uint64_t{4} << 20;

/// Read: the bytes are there from the beginning. Write: they arrive with close(), after which the
/// pointer is void. At most largest_part() bytes where the host does not see the device's memory.
class DeviceImpl::Window {
 public:
  Window(DeviceImpl& device, Access access, Place place, uint64_t size);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  void* data() const { return data_; }
  void close();

 private:
  DeviceImpl& device_;
  Access access_;
  Place place_, mapped_{};
  uint64_t size_;
  void* data_ = nullptr;
};

}  // namespace tenon
