// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs printed as CUDA or HIP, compiled together for the host and run by tests/emulator.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sdk/program/builder.hpp"
#include "sdk/render/dialect.hpp"
#include "tests/sdk/null_device.hpp"

namespace emulator {
class Stacks;
}

namespace tenon::sdk {

class GpuKernels {
 public:
  using Edit = std::function<std::string(std::string)>;

  /// As on an architecture whose matrix units add otherwise than the others' do, as "gfx942";
  /// `edit` changes what was printed.
  explicit GpuKernels(const Dialect& dialect, std::string architecture = "", Edit edit = {})
      : dialect_(dialect), architecture_(std::move(architecture)), edit_(std::move(edit)) {}
  ~GpuKernels();
  GpuKernels(const GpuKernels&) = delete;
  GpuKernels& operator=(const GpuKernels&) = delete;
  /// A number for run(), once built.
  size_t add(const Program& program);
  /// Compiles all; throws std::runtime_error with the compiler's words.
  void build();
  /// Throws std::runtime_error where threads do not meet or race, or an address is not aligned.
  void run(size_t kernel, std::array<uint32_t, 3> grid,
           const std::vector<TestArgument>& arguments) const;
  /// The same with a pointer to each buffer and to each scalar.
  void run_pointers(size_t kernel, std::array<uint32_t, 3> grid, void* const* pointers) const;

 private:
  using Launch = const char* (*)(size_t kernel, const uint32_t* grid, void* const* arguments,
                                 emulator::Stacks* stacks);
  const Dialect& dialect_;
  std::string architecture_;
  Edit edit_;
  std::string sources_, table_;
  size_t count_ = 0;
  void* library_ = nullptr;
  Launch launch_ = nullptr;
};

}  // namespace tenon::sdk
