// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What keeps alive the values from which others were computed, for gradients. Internal to the
// library.
#pragma once

#include <vector>

#include "frontend/tensor/state.hpp"

namespace tenon {

/// Of this thread, while a GradientTape lives.
class Tape {
 public:
  /// Null where no GradientTape is.
  static Tape* current();

  void hold(const std::vector<NodeRef>& values) {
    values_.insert(values_.end(), values.begin(), values.end());
  }

 private:
  std::vector<NodeRef> values_;
};

}  // namespace tenon
