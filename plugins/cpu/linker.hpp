// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An object file in memory, linked and ready to call. Includes no LLVM headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sdk/backend/host_device.hpp"

namespace tenon::cpu {

/// Runs workgroups [begin, end) of the grid, x fastest. `begin` < `end`.
using KernelEntry = void (*)(const sdk::HostArgument* arguments, const uint32_t* grid,
                             uint64_t begin, uint64_t end, std::byte* scratch, uint64_t thread);

class LinkedObject {
 public:
  /// Throws sdk::Failure for bytes that are not an object of this plugin.
  explicit LinkedObject(std::span<const std::byte> object);
  ~LinkedObject();
  KernelEntry entry() const { return entry_; }

 private:
  void link(std::span<const std::byte> object);
  struct Session;  ///< one for each executable, so that they share no lock
  std::unique_ptr<Session> session_;
  KernelEntry entry_ = nullptr;
};

}  // namespace tenon::cpu
