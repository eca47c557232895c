// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tensors were before they were read, for gradients. Internal to the library.
#pragma once

#include <vector>

#include "core/support/flat_map.hpp"
#include "frontend/tensor/state.hpp"

namespace tenon {

/// Of this thread, while a GradientTape lives.
class Tape {
 public:
  struct Entry {
    NodeRef buffer, origin;
  };
  /// Null where no GradientTape is.
  static Tape* current();

  void record(NodeRef buffer, NodeRef origin) {
    entries_.push_back({std::move(buffer), std::move(origin)});
  }
  /// In the order in which they were realised.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace tenon
