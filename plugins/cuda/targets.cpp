// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names to numbers to limits.
#include "plugins/cuda/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tenon::cuda {
namespace {

struct Named {
  int capability;
  uint32_t kilobytes;  ///< of shared memory for one block, with opt-in
  /// Of a large product, as code compiled without a device is for that: V100, Jetson AGX Xavier,
  /// Quadro RTX 8000, A100, A40, Jetson AGX Orin, L40S, H100 SXM, B200, B300, Jetson T5000,
  /// RTX PRO 6000, GB10. Source: NVIDIA's data sheets.
  uint32_t multiprocessors;
};
constexpr Named kNamed[] = {{70, 96, 80},    {72, 96, 8},     {75, 64, 72},   {80, 163, 108},
                            {86, 99, 84},    {87, 163, 16},   {89, 99, 142},  {90, 227, 132},
                            {100, 227, 148}, {103, 227, 160}, {110, 227, 20}, {120, 99, 188},
                            {121, 99, 48}};

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
  }
  limits.async_copies = architecture.capability >= 80;
  return limits;
}

}  // namespace tenon::cuda
