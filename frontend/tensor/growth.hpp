// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Notices graphs that grow with every step. Internal to the library.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

namespace tenon {

/// Thread-safe.
class Growth {
 public:
  /// Of a graph that is realised. What to tell the user, once; or "".
  std::string note(size_t outputs, size_t nodes);

 private:
  static constexpr int kMany = 16;  ///< steps
  static constexpr size_t kLarge = 1000;
  std::mutex mutex_;
  size_t outputs_ = 0, nodes_ = 0, first_ = 0;
  int steps_ = 0;
  bool said_ = false;
};

}  // namespace tenon
