// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether the last workgroups of a grid run, without an element for each.
#pragma once

#include "conformance/abi/open_device.hpp"

namespace tenon::conformance::abi::checks {

/// One executable for grids of any size, of which the last four workgroups write their number.
class LastGroups {
 public:
  explicit LastGroups(const OpenDevice& device);

  /// Whether the device takes the program.
  bool is_taken() const { return executable_ != nullptr; }
  /// Throws a Finding.
  void run(const uint32_t (&grid)[3]) const;

 private:
  const OpenDevice& device_;
  ExecutableHandle executable_;
  MemoryHandle out_, sizes_;
};

}  // namespace tenon::conformance::abi::checks
