// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A SPIR-V target: features that code may use, and the properties that follow.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/backend/property_table.hpp"
#include "sdk/render/glsl_dialect.hpp"

namespace tenon::sdk {

struct SpirvTarget {
  bool i8 = false, i16 = false;  ///< integers of these widths, in buffers too
  bool i64 = false, f64 = false;
  bool specials = false;              ///< NaN, infinities and the sign of zeros are kept
  bool denormals = false;             ///< kept
  bool rounding = false;              ///< to nearest even
  bool is_software = false;           ///< the driver computes on the host's processor
  uint32_t subgroup = 0;              ///< threads; 0 without subgroup operations
  std::vector<tn_matrix_atom> atoms;  ///< of glsl_atom(); need i8, i16 and that subgroup

  /// As "spirv1.5+i8+i16+f64+subgroup8"; "+coop" means all atoms.
  std::string name() const;
  GlslOptions glsl_options() const;
};

/// "vulkan1.2" has all features but subgroups, "spirv1.5" no optional ones. "vulkan1.2+coop" is the
/// first with subgroups of 32, the atoms of NVIDIA, and the limits of such devices.
std::optional<SpirvTarget> find_spirv_target(std::string_view name);

/// Properties for the ops that print_glsl() supports, with the minimum limits of Vulkan 1.2,
/// without a memory space.
std::unique_ptr<PropertyTable> spirv_properties(const SpirvTarget& target);
/// The same for a target by name, with one memory space; null if the name is unknown.
std::unique_ptr<PropertyTable> named_spirv_properties(std::string_view name);

/// Limits without a field in tn_properties. Defaults are the minimum of Vulkan 1.2.
struct SpirvLimits {
  uint32_t push_constant_bytes = 128;
  uint32_t usual_subgroup = 0;                ///< threads, if a pipeline does not require a size
  uint32_t workgroup_subgroups = UINT32_MAX;  ///< most subgroups of a required size in a workgroup
};
/// Empty, or why a program within the properties cannot be compiled. For Backend::supports.
std::string exceeds_spirv_limits(const ProgramView& program, const SpirvLimits& limits = {});

}  // namespace tenon::sdk
