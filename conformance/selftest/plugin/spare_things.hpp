// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files and threads that a device may hold, as drivers do.
#pragma once

#include <thread>
#include <vector>

namespace tenon::planted {

class SpareThings {
 public:
  explicit SpareThings(bool any);
  ~SpareThings();
  SpareThings(const SpareThings&) = delete;
  SpareThings& operator=(const SpareThings&) = delete;

 private:
  std::vector<int> files_;
  std::vector<std::jthread> threads_;
};

}  // namespace tenon::planted
