// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sdk/device_clang.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tenon::sdk {
namespace {

/// What hiprtc brings of its own; of its functions those that tiles of matrix atoms call.
constexpr char kLanguage[] =
    "#define __global__ __attribute__((global))\n"
    "#define __device__ __attribute__((device))\n"
    "#define __shared__ __attribute__((shared))\n"
    "#define __forceinline__ inline __attribute__((always_inline))\n"
    "#define __launch_bounds__(n) __attribute__((launch_bounds(n)))\n"
    "struct Place {\n"
    "  struct X { __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_x(); "
    "} } x;\n"
    "  struct Y { __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_y(); "
    "} } y;\n"
    "  struct Z { __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_z(); "
    "} } z;\n"
    "};\n"
    "extern __device__ const Place threadIdx;\n"
    "static __device__ void __syncthreads() { __builtin_amdgcn_s_barrier(); }\n";

constexpr const char* kPrograms[] = {"clang-19",
                                     "clang-20",
                                     "clang-21",
                                     "clang-18",
                                     "clang-17",
                                     "clang",
                                     "/opt/rocm/llvm/bin/clang"};

std::string contents(const std::string& file) {
  std::stringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

}  // namespace

std::optional<DeviceClang> DeviceClang::find(const std::string& architecture) {
  const auto knows = [&](const std::string& program) {
    try {
      DeviceClang(program, architecture).assembly("extern \"C\" __global__ void empty() {}\n");
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  };
  for (const char* program : kPrograms) {
    if (knows(program)) return DeviceClang(program, architecture);
  }
  return std::nullopt;
}

std::string DeviceClang::assembly(const std::string& source) const {
  std::string folder = (std::filesystem::temp_directory_path() / "tenon-clang-XXXXXX").string();
  if (!mkdtemp(folder.data())) throw std::runtime_error("mkdtemp failed");
  std::ofstream(folder + "/k.hip") << kLanguage << source;
  const std::string command = fmt::format(
      "{} -x hip --cuda-device-only --offload-arch={} -nogpuinc -nogpulib -std=c++17 -O3 "
      "-ffp-contract=off -w -S -o {}/k.s {}/k.hip > {}/log 2>&1",
      program_, architecture_, folder, folder, folder);
  const int status = std::system(command.c_str());
  const std::string text = contents(folder + (status == 0 ? "/k.s" : "/log"));
  std::filesystem::remove_all(folder);
  if (status != 0) throw std::runtime_error(text.substr(0, 4000));
  return text;
}

}  // namespace tenon::sdk
