// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names to numbers to limits.
#include "plugins/cuda/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tenon::cuda {
namespace {

struct SharedMemory {
  int capability;
  uint32_t kilobytes;  ///< of one block, with opt-in
};
constexpr SharedMemory kShared[] = {{70, 96},   {72, 96},  {75, 64},  {80, 163},  {86, 99},
                                    {87, 163},  {89, 99},  {90, 227}, {100, 227}, {103, 227},
                                    {110, 227}, {120, 99}, {121, 99}};

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
  const auto* row = std::ranges::find(kShared, architecture.capability, &SharedMemory::capability);
  if (row != std::end(kShared)) limits.shared_bytes = row->kilobytes << 10;
  return limits;
}

}  // namespace tenon::cuda
