// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Features by name.
#include "plugins/vulkan/target.hpp"

#include <fmt/format.h>

#include <charconv>

#include "plugins/vulkan/adapter.hpp"

namespace tenon::vulkan {
namespace {

constexpr std::string_view kBase = "spirv1.5";
constexpr std::string_view kSubgroup = "subgroup";

struct Row {
  std::string_view name;
  bool TargetSpec::*member;
};
constexpr Row kRows[] = {{"i8", &TargetSpec::i8},
                         {"i16", &TargetSpec::i16},
                         {"i64", &TargetSpec::i64},
                         {"f64", &TargetSpec::f64},
                         {"specials", &TargetSpec::specials},
                         {"denormals", &TargetSpec::denormals},
                         {"rte", &TargetSpec::rounding}};

bool add(TargetSpec& target, std::string_view feature) {
  for (const Row& row : kRows) {
    if (row.name == feature) return target.*row.member = true;
  }
  if (!feature.starts_with(kSubgroup)) return false;
  const char* end = feature.data() + feature.size();
  const auto [at, code] = std::from_chars(feature.data() + kSubgroup.size(), end, target.subgroup);
  return code == std::errc() && at == end && target.subgroup > 0 && target.subgroup <= 128;
}

}  // namespace

std::string TargetSpec::name() const {
  std::string out(kBase);
  for (const Row& row : kRows) {
    if (this->*row.member) out.append("+").append(row.name);
  }
  return subgroup ? fmt::format("{}+{}{}", out, kSubgroup, subgroup) : out;
}

TargetSpec target_of(const Adapter& adapter) {
  const VkPhysicalDeviceFeatures& core = adapter.features.features;
  const VkPhysicalDeviceVulkan12Features& v12 = adapter.f12;
  TargetSpec target;
  target.i8 = v12.storageBuffer8BitAccess && v12.shaderInt8;
  target.i16 = adapter.f11.storageBuffer16BitAccess && core.shaderInt16;
  target.i64 = core.shaderInt64;
  target.f64 = core.shaderFloat64 && target.i64;
  const VkPhysicalDeviceVulkan12Properties& floats = adapter.v12;
  const auto both = [&](VkBool32 f32, VkBool32 f64) { return f32 && (f64 || !target.f64); };
  target.specials = both(floats.shaderSignedZeroInfNanPreserveFloat32,
                         floats.shaderSignedZeroInfNanPreserveFloat64);
  target.denormals = both(floats.shaderDenormPreserveFloat32, floats.shaderDenormPreserveFloat64);
  target.rounding = both(floats.shaderRoundingModeRTEFloat32, floats.shaderRoundingModeRTEFloat64);
  constexpr VkSubgroupFeatureFlags kNeeded = VK_SUBGROUP_FEATURE_BASIC_BIT |
                                             VK_SUBGROUP_FEATURE_BALLOT_BIT |
                                             VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  if ((adapter.v11.subgroupSupportedOperations & kNeeded) == kNeeded &&
      (adapter.v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
      v12.shaderSubgroupExtendedTypes && adapter.size_control.computeFullSubgroups)
    target.subgroup = adapter.v11.subgroupSize;
  return target;
}

std::optional<TargetSpec> find_target(std::string_view name) {
  TargetSpec target;
  if (name == "vulkan1.2") {
    for (const Row& row : kRows) target.*row.member = true;
    return target;
  }
  if (!name.starts_with(kBase)) return std::nullopt;
  for (name.remove_prefix(kBase.size()); !name.empty();) {
    const size_t end = std::min(name.find('+', 1), name.size());
    if (name[0] != '+' || !add(target, name.substr(1, end - 1))) return std::nullopt;
    name.remove_prefix(end);
  }
  return target;
}

}  // namespace tenon::vulkan
