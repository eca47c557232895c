// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs printed as GLSL, compiled together as C++ for the host: threads run one after another,
// so their workgroups may not meet at barriers. Tells whether the text means what it should, not
// whether a driver heeds it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sdk/program/builder.hpp"
#include "tests/sdk/null_device.hpp"

namespace tenon::sdk {

class ShaderKernels {
 public:
  /// A number for run(), once built.
  size_t add(const Program& program);
  /// Throws std::runtime_error with the compiler's words.
  void build();
  void run(size_t kernel, std::array<uint32_t, 3> grid,
           const std::vector<TestArgument>& arguments) const;

 private:
  using Launch = void (*)(size_t kernel, const uint32_t* grid, void* const* arguments);
  std::string sources_, table_;
  size_t count_ = 0;
  Launch launch_ = nullptr;
};

}  // namespace tenon::sdk
