// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of targets, and their properties.
#include "sdk/spirv/target.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sdk/render/scalar_layout.hpp"
#include "sdk/shader/properties.hpp"

namespace tenon::sdk {
namespace {

struct Row {
  std::string_view name;
  bool SpirvTarget::*member;
};
constexpr Row kRows[] = {{"+i8", &SpirvTarget::i8},
                         {"+i16", &SpirvTarget::i16},
                         {"+i64", &SpirvTarget::i64},
                         {"+f64", &SpirvTarget::f64},
                         {"+specials", &SpirvTarget::specials},
                         {"+denormals", &SpirvTarget::denormals},
                         {"+rte", &SpirvTarget::rounding},
                         {"+software", &SpirvTarget::is_software}};

}  // namespace

std::string SpirvTarget::name() const {
  std::string out = "spirv1.5";
  for (const Row& row : kRows) out += this->*row.member ? row.name : "";
  return subgroup ? fmt::format("{}+subgroup{}", out, subgroup) : out;
}

GlslOptions SpirvTarget::glsl_options() const {
  GlslOptions options;
  options.preserves_specials = {false, specials, specials && f64};
  options.preserves_denormals = {false, denormals, denormals && f64};
  options.rounds_to_even = {false, rounding, rounding && f64};
  options.keeps_loops = is_software;
  return options;
}

std::optional<SpirvTarget> find_spirv_target(std::string_view name) {
  SpirvTarget target;
  if (name == target.name()) return target;
  if (name != "vulkan1.2") return std::nullopt;
  for (const Row& row : kRows) target.*row.member = row.member != &SpirvTarget::is_software;
  return target;
}

std::unique_ptr<PropertyTable> spirv_properties(const SpirvTarget& target) {
  auto table = shader_properties(target.is_software);
  table->claim({OpClaim::FUSED});
  if (target.subgroup) table->claim({OpClaim::SUBGROUP});
  table->store_all().compute_all(1, 2).atomics({TN_DTYPE_I32, TN_DTYPE_U32});
  if (target.i64) table->compute({TN_DTYPE_I64, TN_DTYPE_U64});
  if (target.f64) table->compute({TN_DTYPE_F64});
  table->workgroup(128, 128, 64, 128);
  tn_properties& p = table->fields();
  p.flags |= TN_DEVICE_ASYNC;
  if (!target.denormals) p.numerics = TN_NUMERICS_FLUSH_INPUT | TN_NUMERICS_FLUSH_OUTPUT;
  if (!target.specials)
    p.numerics |= TN_NUMERICS_NO_NAN | TN_NUMERICS_NO_INF | TN_NUMERICS_NO_SIGNED_ZERO;
  p.storage_bytes = target.i8 && target.i16 ? 1 : 4;
  std::fill_n(p.max_grid, 3, 65535u);
  p.max_bindings = 4;
  p.max_buffer_bytes = uint64_t{1} << 27;
  p.max_shared_bytes = 16384;
  p.max_scratch_bytes = 16384;  // arrays of one thread; more than any GPU has registers for
  p.subgroup_min = p.subgroup_max = target.subgroup;
  if (target.is_software) p.max_loop_trips = kLlvmpipeLoopTrips;  // it may be that driver
  return table;
}

std::unique_ptr<PropertyTable> named_spirv_properties(std::string_view name) {
  const std::optional<SpirvTarget> target = find_spirv_target(name);
  if (!target) return nullptr;
  auto table = spirv_properties(*target);
  tn_memory_space space = TN_INIT(tn_memory_space);
  space.flags = TN_MEMORY_DEVICE;
  space.alignment = 256;  // at most, in Vulkan 1.2
  space.copy_from = 1;
  table->add_memory(space);
  return table;
}

std::string exceeds_spirv_limits(const ProgramView& program, const SpirvLimits& limits) {
  if (const uint32_t bytes = scalar_layout(program).bytes; bytes > limits.push_constant_bytes)
    return fmt::format("scalars: expected at most {} bytes of push constants, got {}",
                       limits.push_constant_bytes, bytes);
  const tn_program& header = program.header();
  const uint32_t size = header.subgroup_size;
  if (size == 0) return {};
  if (header.workgroup[0] % size)
    return fmt::format("subgroup: expected rows of whole subgroups of {} threads, got {}", size,
                       header.workgroup[0]);
  const uint32_t groups = header.workgroup[0] * header.workgroup[1] * header.workgroup[2] / size;
  if (size != limits.usual_subgroup && groups > limits.workgroup_subgroups)
    return fmt::format("subgroup: expected at most {} of {} threads in a workgroup, got {}",
                       limits.workgroup_subgroups, size, groups);
  return {};
}

}  // namespace tenon::sdk
