// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stacks of a workgroup's threads, which all launches of a process share: to fill them for each
// takes longer than to run it.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace emulator {

class Stacks {
 public:
  static constexpr size_t kSize = 128 << 10;

  /// Full of numbers that are none: registers are not zero.
  char* stack(size_t thread) {
    while (stacks_.size() <= thread) {
      stacks_.emplace_back(new char[kSize]);
      memset(stacks_.back().get(), kFill, kSize);
    }
    return stacks_[thread].get();
  }
  /// Fills it again from `deepest` on, which something was called from.
  void clean(size_t thread, const char* deepest) {
    char* begin = stack(thread);
    const size_t at = static_cast<size_t>(deepest - begin);
    const size_t first = at > kCalled ? at - kCalled : 0;
    memset(begin + first, kFill, kSize - first);
  }

 private:
  static constexpr int kFill = 0xff;
  static constexpr size_t kCalled = 4 << 10;
  std::vector<std::unique_ptr<char[]>> stacks_;
};

}  // namespace emulator
