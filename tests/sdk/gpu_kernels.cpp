// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each program is a namespace; helpers with an asm statement give way to the emulator's functions
// of the same name. All else is compiled as it is printed, but for the linkage of the kernel.
#include "tests/sdk/gpu_kernels.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <mutex>
#include <sstream>
#include <stdexcept>

#include "sdk/render/c_printer.hpp"
#include "sdk/render/gpu_dialect.hpp"
#include "tests/emulator/stacks.hpp"
#include "tests/sdk/compiled_library.hpp"

namespace tenon::sdk {
namespace {

bool begins_function(std::string_view line) {
  return line.starts_with("TN ") || line.starts_with("template ");
}

/// Without the functions that have an asm statement; a function ends with "}" at a line's end that
/// stands first in its line, or in the function's first line.
std::string without_assembly(const std::string& source) {
  std::istringstream in(source);
  std::string out, function, line;
  while (std::getline(in, line)) {
    if (function.empty() && !begins_function(line)) {
      out += line + "\n";
      continue;
    }
    const bool is_first = function.empty();
    function += line + "\n";
    if (line != "}" && !(is_first && line.ends_with("}"))) continue;
    if (function.find("asm") == std::string::npos) out += function;
    function.clear();
  }
  return out + function;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}  // namespace

GpuKernels::~GpuKernels() {
  if (library_) dlclose(library_);
}

size_t GpuKernels::add(const Program& program) {
  const tn_program& header = *program.get();
  std::string source = without_assembly(print_source(program.view(), dialect_));
  if (edit_) source = edit_(source);
  source = replaced(source, "extern \"C\" ", "");
  if (has_dynamic_shared(program.view(), dialect_)) {  // the launch brings it
    source += fmt::format("alignas(1024) thread_local tn_b16 tn_dynamic_shared[{}];\n",
                          header.shared_bytes / 16 + 1);
  }
  sources_ += fmt::format(
      "namespace k{0} {{\n{1}void run(void* const* bound) {{ emulator::call({2}, bound); }}\n}}\n",
      count_, source, Dialect::function_name(program.view()));
  table_ += fmt::format("  {{k{}::run, {{{}, {}, {}}}, {}}},\n", count_, header.workgroup[0],
                        header.workgroup[1], header.workgroup[2],
                        header.subgroup_size ? header.subgroup_size : 32);
  return count_++;
}

void GpuKernels::build() {
  const std::string source = fmt::format(
      "#define __CUDA_ARCH__ 800\n{}#include \"language.hpp\"\n{}"
      "const bool emulator::is_gfx942 = {};\nconst emulator::Kernel emulator::kernels[] = "
      "{{\n{}}};\n",
      dialect_.data().name == "hip" ? "#define EMULATE_ROUGH_SQRT\n" : "", sources_,
      architecture_ == "gfx942", table_);
  // Libraries are those of the process: to look through them takes longer than to compile.
  library_ = compiled_library(
      "c++ -std=c++17 -O0 -pipe -fvisibility=hidden -ffp-contract=off -fwrapv "
      "-fsanitize=thread -fno-strict-aliasing -fno-gnu-unique -fno-exceptions -w "
      "-I" TENON_SOURCE_DIR "/tests/emulator -nodefaultlibs -Wl,--undefined=launch",
      "k.cpp", source, TENON_EMULATOR " -lgcc");
  launch_ = reinterpret_cast<Launch>(dlsym(library_, "launch"));
}

void GpuKernels::run(size_t kernel, std::array<uint32_t, 3> grid,
                     const std::vector<TestArgument>& arguments) const {
  run_pointers(kernel, grid, ArgumentPointers(arguments).data());
}

void GpuKernels::run_pointers(size_t kernel, std::array<uint32_t, 3> grid,
                              void* const* pointers) const {
  static std::mutex mutex;  // the emulator is one machine
  static emulator::Stacks stacks;
  const std::lock_guard lock(mutex);
  const char* error = launch_(kernel, grid.data(), pointers, &stacks);
  if (error) throw std::runtime_error(error);
}

}  // namespace tenon::sdk
