// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each program is a namespace; blocks of buffers and push constants become variables.
#include "tests/sdk/shader_kernels.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <regex>

#include "sdk/render/glsl_dialect.hpp"
#include "tests/sdk/compiled_library.hpp"

namespace tenon::sdk {
namespace {

std::string cpp_from_glsl(const std::string& glsl) {
  static const std::pair<std::regex, const char*> kRules[] = {
      {std::regex(R"(#version.*|#pragma.*|#extension.*|layout\(local_size.*)"), ""},
      {std::regex(R"(#define (\w+) spirv_type\(.*id = 4456, (\d+)u, 3u, (\d+)u, (\d+)u, \du\))"),
       "using $1 = Matrix<$2, $3, $4>;"},
      {std::regex(R"(spirv_instruction\(id = (\d+)\) (\w+) (\w+)\(.*\);)"),
       "static $2 $3(auto&&... x) { return Instruction<$1, $2>::run(x...); }"},
      {std::regex(R"(layout\(set.*\{ (\w+) (\w+)\[\]; \};)"), "static $1* $2;"},
      {std::regex(R"(layout\(push_constant.*\n((  layout.*\n)*)\};)"), "$1"},
      {std::regex(R"(  layout\(offset = \d+\) )"), "static "},
      {std::regex(R"(\nshared )"), "\nstatic "},
      {std::regex(R"((uint \w+\[\d+\]) = uint\[\d+\]\(([^)]*)\))"), "$1 = {$2}"},
      {std::regex(R"((\d)lf\b)"), "$1"},
      {std::regex(R"(void main\(\))"), "static void run()"}};
  std::string out = glsl;
  for (const auto& [from, to] : kRules) out = std::regex_replace(out, from, to);
  return out;
}

/// Statements that bind the arguments to the variables.
std::string binds(const ProgramView& program) {
  std::string out;
  for (uint32_t i = 0, argument = 0; i < program.param_count(); ++i) {
    const tn_param& param = program.param(i);
    if (param.kind == TN_PARAM_ALLOC) continue;
    const bool is_narrow = dtype_bytes(static_cast<uint8_t>(param.dtype)) < 4;
    const std::string name = Dialect::param_name(program, param);
    out += param.kind == TN_PARAM_BUFFER
               ? fmt::format("  {0} = (decltype({0}))arguments[{1}];\n", name, argument)
               : fmt::format("  memcpy(&{0}{2}, arguments[{1}], sizeof {0}{2});\n", name, argument,
                             is_narrow ? "_bits" : "");
    ++argument;
  }
  return out;
}

}  // namespace

size_t ShaderKernels::add(const Program& program) {
  sources_ +=
      fmt::format("namespace k{} {{\n{}\nstatic void bind(void* const* arguments) {{\n{}}}\n}}\n",
                  count_, cpp_from_glsl(print_glsl(program.view())), binds(program.view()));
  const uint32_t* size = program.get()->workgroup;
  table_ += fmt::format("  {{k{0}::bind, k{0}::run, {{{1}, {2}, {3}}}}},\n", count_, size[0],
                        size[1], size[2]);
  return count_++;
}

void ShaderKernels::build() {
  const std::string source = "#include \"shader_emulator.hpp\"\n" + sources_ + R"(
struct Kernel { void (*bind)(void* const*); void (*run)(); Place size; };
static const Kernel kernels[] = {
)" + table_ + R"(};
template <class Body>
static void each(Place end, Place& at, Body body) {
  for (at.z = 0; at.z < end.z; ++at.z)
    for (at.y = 0; at.y < end.y; ++at.y)
      for (at.x = 0; at.x < end.x; ++at.x) body();
}
extern "C" void launch(size_t k, const uint32_t* grid, void* const* arguments) {
  const Kernel& kernel = kernels[k];
  kernel.bind(arguments);
  each({grid[0], grid[1], grid[2]}, gl_WorkGroupID,
       [&] { each(kernel.size, gl_LocalInvocationID, kernel.run); });
}
)";
  void* library = compiled_library(
      "c++ -std=c++20 -O1 -ffp-contract=off -fwrapv -w -I" TENON_SOURCE_DIR "/tests/sdk", "k.cpp",
      source);
  launch_ = reinterpret_cast<Launch>(dlsym(library, "launch"));
}

void ShaderKernels::run(size_t kernel, std::array<uint32_t, 3> grid,
                        const std::vector<TestArgument>& arguments) const {
  launch_(kernel, grid.data(), ArgumentPointers(arguments).data());
}

}  // namespace tenon::sdk
