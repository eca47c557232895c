// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the source to a temporary folder, runs cc, opens what it made.
#include "tests/sdk/c_kernel.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "sdk/render/c_dialect.hpp"
#include "sdk/render/c_printer.hpp"

namespace tenon::sdk {

CKernel::CKernel(const Program& program) {
  std::copy_n(program.get()->workgroup, 3, block_.begin());
  std::string folder = (std::filesystem::temp_directory_path() / "tenon-c-XXXXXX").string();
  if (!mkdtemp(folder.data())) throw std::runtime_error("mkdtemp failed");
  const std::string source = print_source(program.view(), c_dialect());
  std::ofstream(folder + "/k.c") << source;
  const std::string command = fmt::format(
      "cc -std=c11 -O1 -shared -fPIC -ffp-contract=off -fwrapv -Wall -Werror "
      "-Wno-unused-variable -Wno-unused-function -Wno-type-limits "
      "-o {0}/k.so {0}/k.c -lm > {0}/log 2>&1",
      folder);
  const int status = std::system(command.c_str());
  std::stringstream log;
  log << std::ifstream(folder + "/log").rdbuf();
  void* library = status == 0 ? dlopen((folder + "/k.so").c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  std::filesystem::remove_all(folder);
  if (!library) throw std::runtime_error(log.str() + source);
  const std::string name = "kernel_" + std::string(program.view().name());
  function_ = reinterpret_cast<Function>(dlsym(library, name.c_str()));
}

void CKernel::run(std::array<uint32_t, 3> grid, const std::vector<TestArgument>& arguments) const {
  std::vector<uint64_t> scalars(arguments.size());
  std::vector<void*> pointers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    scalars[i] = arguments[i].scalar;
    pointers.push_back(arguments[i].bytes ? static_cast<void*>(arguments[i].bytes->data())
                                          : &scalars[i]);
  }
  run(grid, pointers);
}

void CKernel::run(std::array<uint32_t, 3> grid, const std::vector<void*>& pointers) const {
  const uint32_t end[6] = {grid[0], grid[1], grid[2], block_[0], block_[1], block_[2]};
  const uint64_t total = uint64_t{end[0]} * end[1] * end[2] * end[3] * end[4] * end[5];
  for (uint64_t i = 0; i < total; ++i) {
    uint32_t thread[6];
    uint64_t rest = i;
    for (int axis : {3, 4, 5, 0, 1, 2}) {
      thread[axis] = static_cast<uint32_t>(rest % end[axis]);
      rest /= end[axis];
    }
    function_(pointers.data(), thread);
  }
}

}  // namespace tenon::sdk
