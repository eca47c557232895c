// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sdk/c_kernel.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "sdk/render/c_dialect.hpp"
#include "sdk/render/c_printer.hpp"
#include "tests/sdk/compiled_library.hpp"

namespace tenon::sdk {

CKernel::CKernel(const Program& program) {
  std::copy_n(program.get()->workgroup, 3, block_.begin());
  void* library = compiled_library(
      "cc -std=c11 -O1 -ffp-contract=off -fwrapv -Wall -Werror "
      "-Wno-unused-variable -Wno-unused-function -Wno-type-limits",
      "k.c", print_source(program.view(), c_dialect()), "-lm");
  const std::string name = "kernel_" + std::string(program.view().name());
  function_ = reinterpret_cast<Function>(dlsym(library, name.c_str()));
}

void CKernel::run(std::array<uint32_t, 3> grid, const std::vector<TestArgument>& arguments) const {
  run(grid, ArgumentPointers(arguments).data());
}

void CKernel::run(std::array<uint32_t, 3> grid, void* const* pointers) const {
  const uint32_t end[6] = {grid[0], grid[1], grid[2], block_[0], block_[1], block_[2]};
  const uint64_t total = uint64_t{end[0]} * end[1] * end[2] * end[3] * end[4] * end[5];
  for (uint64_t i = 0; i < total; ++i) {
    uint32_t thread[6];
    uint64_t rest = i;
    for (int axis : {3, 4, 5, 0, 1, 2}) {
      thread[axis] = static_cast<uint32_t>(rest % end[axis]);
      rest /= end[axis];
    }
    function_(pointers, thread);
  }
}

}  // namespace tenon::sdk
