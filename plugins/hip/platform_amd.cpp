// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AMD's platform: libamdhip64, opened at run time.
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "plugins/hip/libraries.hpp"
#include "plugins/hip/platform.hpp"
#include "sdk/helpers/failure.hpp"
#include "sdk/helpers/shared_library.hpp"
#include "sdk/render/hip_dialect.hpp"

namespace tenon::hip {

void bind(sdk::StreamApi& api, HipFunctions& hip) {
  const sdk::SharedLibrary library(versions("libamdhip64.so", {".7", ".6", ".5", ""}));
  if (!library) throw sdk::Failure(TN_ERROR_NOT_FOUND, library.reason());
#define HIP(slot, function) {#function, &slot, false},
#define OPTIONAL(slot, function) {#function, &slot, true},
  const sdk::SymbolRow rows[] = {
#include "plugins/hip/functions.def"
      {"hipGetDeviceProperties", &hip.properties, true},
  };
#undef HIP
#undef OPTIONAL
  std::string missing = sdk::load_symbols(library, rows);
  // ROCm 6 renamed it, with another layout.
  const sdk::SymbolRow newer[] = {{"hipGetDevicePropertiesR0600", &hip.properties, false}};
  if (missing.empty() && !hip.properties) missing = sdk::load_symbols(library, newer);
  if (!missing.empty()) throw sdk::Failure(TN_ERROR_NOT_FOUND, missing);
}

std::string device_target(const sdk::StreamApi&, const HipFunctions& hip, int device) {
  // Of the text in hipDeviceProp_t only gcnArchName begins so, wherever a version has it.
  std::array<char, 8192> bytes = {};
  const int code = hip.properties(bytes.data(), device);
  constexpr std::string_view kBegin = "gfx";
  const std::string_view all(bytes.data(), bytes.size() - 1);
  const size_t at = all.find(kBegin);
  if (code != 0 || at == std::string_view::npos) {
    throw sdk::Failure(TN_ERROR_NOT_FOUND,
                       fmt::format("hipGetDeviceProperties: no architecture of device {}", device));
  }
  return bytes.data() + at;
}

const sdk::Dialect& platform_dialect() { return sdk::hip_dialect(); }

std::span<const tn_matrix_atom> platform_atoms(std::string_view target) {
  return sdk::hip_atoms(target);
}

sdk::StreamLimits platform_limits(std::string_view target) {
  sdk::StreamLimits limits;
  limits.workgroup[2] = 1024;
  limits.shared_bytes = 64 << 10;  // LDS of a workgroup on every architecture so far
  limits.subgroup = sdk::hip_subgroup_size(target);
  limits.registers = 256;
  return limits;
}

}  // namespace tenon::hip
