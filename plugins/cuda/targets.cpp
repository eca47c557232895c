// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses target names, and lists limits.
#include "plugins/cuda/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "plugins/cuda/rates.hpp"

namespace tenon::cuda {
namespace {

struct Named {
  int capability;
  uint32_t kilobytes;  ///< of shared memory for one block, with opt-in
  /// Of a large product, for which code without a device is compiled: V100, Jetson AGX Xavier,
  /// Quadro RTX 8000, A100, RTX A6000, Jetson AGX Orin, L40S, H100 SXM, B200, B300, Jetson T5000,
  /// RTX PRO 6000, GB10. Source: NVIDIA's data sheets.
  uint32_t multiprocessors;
  uint32_t cache_megabytes;  ///< L2 cache shared by all of them
};
constexpr Named kNamed[] = {{70, 96, 80, 6},      {72, 96, 8, 0},     {75, 64, 72, 6},
                            {80, 163, 108, 40},   {86, 99, 84, 6},    {87, 163, 16, 4},
                            {89, 99, 142, 96},    {90, 227, 132, 50}, {100, 227, 148, 126},
                            {103, 227, 160, 126}, {110, 227, 20, 0},  {120, 99, 188, 128},
                            {121, 99, 48, 0}};

}  // namespace

std::optional<Architecture> parse_target(std::string_view name) {
  constexpr std::string_view kPrefix = "sm_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  Architecture out{0, 0};
  const char* end = name.data() + name.size();
  const auto [rest, code] = std::from_chars(name.data() + kPrefix.size(), end, out.capability);
  if (code != std::errc() || out.capability < 70 || out.capability > 999) return std::nullopt;
  if (rest == end) return out;
  const bool has_own_code = out.capability >= 90 && (*rest == 'a' || *rest == 'f');
  if (!has_own_code || rest + 1 != end) return std::nullopt;
  out.suffix = *rest;
  return out;
}

std::string device_target(const Architecture& architecture) {
  return fmt::format("sm_{}{}", architecture.capability, architecture.capability == 90 ? "a" : "");
}

sdk::StreamLimits limits_of(const Architecture& architecture) {
  sdk::StreamLimits limits;
  const auto* row = std::ranges::find(kNamed, architecture.capability, &Named::capability);
  if (row != std::end(kNamed)) {
    limits.shared_bytes = row->kilobytes << 10;
    limits.compute_units = row->multiprocessors;
    limits.l2_bytes = uint64_t{row->cache_megabytes} << 20;
  }
  limits.rates = rates_of(architecture.capability);
  limits.async_copies = architecture.capability >= 80;
  return limits;
}

}  // namespace tenon::cuda
