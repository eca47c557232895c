// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An object file in memory, linked and ready to call. No LLVM here.
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
  /// Throws sdk::Failure for what is not an object of ours.
  explicit LinkedObject(std::span<const std::byte> object);
  ~LinkedObject();
  KernelEntry entry() const { return entry_; }

 private:
  void link(std::span<const std::byte> object);
  struct Session;  ///< its own: executables share no lock and die alone
  std::unique_ptr<Session> session_;
  KernelEntry entry_ = nullptr;
};

}  // namespace tenon::cpu
