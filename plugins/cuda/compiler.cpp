// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of NVRTC, and parsing of its log. Source: the NVRTC documentation.
#include "plugins/cuda/compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <span>

#include "sdk/support/failure.hpp"

namespace tenon::cuda {
namespace {

constexpr uint32_t kMostRegisters = 255;  ///< of a thread

/// Drivers load machine code of toolkits of their major version and older: "CUDA
/// Compatibility", sections "Minor Version Compatibility" and "Backward Compatibility".
sdk::RuntimeCompiler open_nvrtc(int driver_version) {
  std::vector<std::string> folders = sdk::folder_of_variable("CUDA_HOME", "lib64");
  const std::vector<std::string> path = sdk::folder_of_variable("CUDA_PATH", "lib64");
  folders.insert(folders.end(), path.begin(), path.end());
  folders.insert(folders.end(), {"/usr/local/cuda/lib64", "/opt/cuda/lib64"});
  const int most = driver_version ? driver_version / 1000 : INT_MAX;
  struct Row {
    int major;  ///< 0: unknown, ask the library
    const char* suffix;
  };
  constexpr Row kNewestFirst[] = {{13, ".13"}, {12, ".12"}, {11, ".11.2"}, {0, ""}};
  std::string reason;
  for (const Row& row : kNewestFirst) {
    if (row.major > most) continue;
    for (const std::string& name :
         sdk::library_names("libnvrtc.so", std::span(&row.suffix, 1), folders)) {
      try {
        sdk::RuntimeCompiler nvrtc(std::span(&name, 1), "nvrtc", "CUBIN", "PTX");
        if (nvrtc.major_version() <= most) return nvrtc;
        reason = fmt::format("{}: expected NVRTC {} or older, whose code the driver loads, got {}",
                             name, most, nvrtc.version());
      } catch (const sdk::Failure& failure) {
        if (failure.code() != TN_ERROR_NOT_FOUND) throw;
        if (reason.empty()) reason = failure.what();
      }
    }
  }
  throw sdk::Failure(TN_ERROR_NOT_FOUND, reason);
}

/// The number before `words` in a log, as "Used 40 registers, 16 bytes spill stores".
uint32_t number_before(std::string_view log, std::string_view words) {
  const size_t end = log.rfind(words);  // earlier remarks contain such words too
  if (end == std::string_view::npos) return 0;
  const size_t digit = log.find_last_not_of("0123456789", end - 1);
  uint32_t value = 0;
  std::from_chars(log.data() + (digit == std::string_view::npos ? 0 : digit + 1), log.data() + end,
                  value);
  return value;
}

std::vector<std::string> options(const std::string& architecture) {
  return {"--gpu-architecture=" + architecture, "--std=c++17", "--fmad=false"};
}

/// The source with the register limit of one resident workgroup.
std::string of_one_workgroup(std::string source) {
  const size_t bounds = source.find("__launch_bounds__(");
  if (bounds == std::string::npos) return source;
  return source.insert(source.find(')', bounds), ", 1");
}

}  // namespace

Compiler::Compiler(int driver_version) : nvrtc_(open_nvrtc(driver_version)) {
  int (*count)(int*) = nullptr;
  int (*list)(int*) = nullptr;
  const sdk::SymbolRow rows[] = {{"nvrtcGetNumSupportedArchs", &count},
                                 {"nvrtcGetSupportedArchs", &list}};
  if (const std::string missing = sdk::load_symbols(nvrtc_.library(), rows); !missing.empty()) {
    throw sdk::Failure(TN_ERROR_NOT_FOUND, missing);
  }
  int size = 0;
  if (count(&size) == 0) capabilities_.resize(static_cast<size_t>(size));
  if (list(capabilities_.data()) != 0) capabilities_.clear();
}

std::optional<sdk::StreamLimits> Compiler::find_target(std::string_view name) const {
  const auto architecture = parse_target(name);
  const bool is_known =
      architecture && std::ranges::count(capabilities_, architecture->capability) > 0;
  return is_known ? std::optional(limits_of(*architecture)) : std::nullopt;
}

std::string Compiler::virtual_architecture(const std::string& target) const {
  const auto architecture = parse_target(target);
  if (!architecture || std::ranges::count(capabilities_, architecture->capability)) {
    return "compute" + target.substr(target.find('_'));  // compute_90a for sm_90a
  }
  int newest = 0;
  for (const int known : capabilities_) {
    if (known < architecture->capability) newest = std::max(newest, known);
  }
  if (newest == 0) {
    throw sdk::Failure(TN_ERROR_COMPILE_FAILED,
                       fmt::format("{}: expected an architecture that NVRTC {} knows, got {}",
                                   nvrtc_.library().name(), nvrtc_.version(), target));
  }
  return fmt::format("compute_{}", newest);
}

void Compiler::compile(const sdk::ProgramView&, sdk::StreamCode& code) const {
  const auto architecture = parse_target(code.target);
  if (architecture && !std::ranges::count(capabilities_, architecture->capability)) {
    // For a GPU newer than NVRTC, the driver compiles PTX, which is forward compatible.
    const std::vector<std::string> all = options(virtual_architecture(code.target));
    code.binary = nvrtc_.compile(code.source, all, sdk::RuntimeCompiler::Output::kText).bytes;
    code.binary.push_back(std::byte{0});  // NUL-terminated, as the driver reads it as text
    return;
  }
  compile_binary(code);
  if (code.spills == 0 || code.registers == kMostRegisters) return;
  // It spills to make more workgroups resident.
  sdk::StreamCode other = code;
  other.source = of_one_workgroup(code.source);
  compile_binary(other);
  if (other.spills < code.spills) code = std::move(other);
}

void Compiler::compile_binary(sdk::StreamCode& code) const {
  std::vector<std::string> all = options(code.target);
  all.push_back("--ptxas-options=-v");
  sdk::Compiled out = nvrtc_.compile(code.source, all, sdk::RuntimeCompiler::Output::kCode);
  code.binary = std::move(out.bytes);
  code.registers = number_before(out.log, " registers");
  code.spills = number_before(out.log, " bytes spill stores") / 4;
}

std::string Compiler::disassemble(const sdk::StreamCode& code) const {
  const sdk::Compiled out = nvrtc_.compile(code.source, options(virtual_architecture(code.target)),
                                           sdk::RuntimeCompiler::Output::kText);
  std::string text(reinterpret_cast<const char*>(out.bytes.data()), out.bytes.size());
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace tenon::cuda
