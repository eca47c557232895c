// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program printed as C, compiled by the system compiler and called.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sdk/program/builder.hpp"
#include "tests/sdk/null_device.hpp"

namespace tenon::sdk {

class CKernel {
 public:
  /// Throws std::runtime_error with the compiler's words.
  explicit CKernel(const Program& program);
  void run(std::array<uint32_t, 3> grid, const std::vector<TestArgument>& arguments) const;
  /// `pointers`: for each argument its first element or the scalar's value.
  void run(std::array<uint32_t, 3> grid, void* const* pointers) const;

 private:
  using Function = void (*)(void* const* arguments, const uint32_t* thread);
  Function function_;
  std::array<uint32_t, 3> block_;
};

}  // namespace tenon::sdk
