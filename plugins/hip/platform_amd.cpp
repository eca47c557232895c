// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AMD's platform: libamdhip64, opened at run time.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "plugins/hip/platform_amd.hpp"
#include "plugins/hip/rates.hpp"
#include "sdk/render/hip_dialect.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::hip {

std::vector<std::string> library_versions(const char* name,
                                          std::initializer_list<const char*> suffixes) {
  std::vector<std::string> folders = sdk::folder_of_variable("ROCM_PATH", "lib");
  folders.push_back("/opt/rocm/lib");
  return sdk::library_names(name, suffixes, folders);
}

void Driver::bind() {
  sdk::StreamApi& api = api_;
  HipFunctions& hip = hip_;
  const sdk::SharedLibrary library(library_versions("libamdhip64.so", {".7", ".6", ".5", ""}));
  if (!library) throw sdk::Failure(TN_ERROR_NOT_FOUND, library.reason());
#define HIP(slot, function) {#function, &slot, false},
#define OPTIONAL(slot, function) {#function, &slot, true},
#define AMD OPTIONAL
  const sdk::SymbolRow rows[] = {
#include "plugins/hip/functions.def"
      {"hipGetDeviceProperties", &hip.properties, true},
  };
#undef HIP
#undef OPTIONAL
#undef AMD
  std::string missing = sdk::load_symbols(library, rows);
  // ROCm 6 renamed it and changed the layout.
  const sdk::SymbolRow newer[] = {{"hipGetDevicePropertiesR0600", &hip.properties, false}};
  if (missing.empty() && !hip.properties) missing = sdk::load_symbols(library, newer);
  if (!missing.empty()) throw sdk::Failure(TN_ERROR_NOT_FOUND, missing);
}

std::string Driver::target(uint32_t device) const {
  // gcnArchName is the only text in hipDeviceProp_t that begins so, at any offset.
  std::array<char, 8192> bytes = {};
  const int code = hip_.properties(bytes.data(), static_cast<int>(device));
  constexpr std::string_view kBegin = "gfx";
  const std::string_view all(bytes.data(), bytes.size() - 1);
  const size_t at = all.find(kBegin);
  if (code != 0 || at == std::string_view::npos) {
    throw sdk::Failure(TN_ERROR_NOT_FOUND,
                       fmt::format("hipGetDeviceProperties: no architecture of device {}", device));
  }
  return bytes.data() + at;
}

namespace {

/// Multiprocessors, as HIP counts them, of a large product, for which code without a device is
/// compiled: Vega 64, MI60, MI100, one die of MI250X, MI300X, MI355X, and pairs of units of RX 6900
/// XT and RX 7900 XTX. Source: AMD's data sheets.
constexpr std::pair<std::string_view, uint32_t> kUnits[] = {
    {"gfx900", 64},  {"gfx906", 64},  {"gfx908", 120}, {"gfx90a", 110},
    {"gfx942", 304}, {"gfx950", 256}, {"gfx1030", 40}, {"gfx1100", 48}};

}  // namespace

sdk::StreamLimits amd_limits(std::string_view target) {
  sdk::StreamLimits limits;
  const std::string_view name = target.substr(0, target.find(':'));
  for (const auto& [architecture, units] : kUnits) {
    if (name == architecture) limits.compute_units = units;
  }
  limits.rates = rates_of(name);
  limits.workgroup[2] = 1024;
  // hip_runtime_api.h: "HIP does not support kernel launch with total work items defined in
  // dimension with size gridDim x blockDim >= 2^32".
  limits.axis_threads = UINT32_MAX;
  limits.shared_bytes = 64 << 10;  // LDS of a workgroup on every architecture so far
  limits.subgroup = sdk::hip_subgroup_size(target);
  limits.registers = 256;
  return limits;
}

sdk::StreamLimits Driver::limits(std::string_view target) const { return amd_limits(target); }

const sdk::StreamPlatform& platform() {
  static constexpr sdk::StreamPlatform kAmd = {
      [] { return std::unique_ptr<sdk::StreamVendor>(new Driver()); },
      [](int) { return open_hiprtc(); }, sdk::hip_dialect, sdk::hip_atoms};
  return kAmd;
}

}  // namespace tenon::hip
