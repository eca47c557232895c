// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Target names, and properties of targets.
#include "sdk/spirv/target.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sdk/render/dialect_ops.hpp"
#include "sdk/render/glsl_matrix.hpp"
#include "sdk/render/scalar_layout.hpp"
#include "sdk/shader/properties.hpp"
#include "sdk/support/failure.hpp"

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

/// Of "vulkan1.2+coop".
constexpr std::string_view kMatrixTarget = "vulkan1.2+coop";
constexpr uint32_t kMatrixSubgroup = 32, kMatrixThreads = 1024, kMatrixShared = 48 << 10;
constexpr struct {
  uint32_t m, n, k, a, b, accumulator;
} kMatrixAtoms[] = {{16, 16, 16, TN_DTYPE_F16, TN_DTYPE_F16, TN_DTYPE_F32},
                    {16, 16, 16, TN_DTYPE_BF16, TN_DTYPE_BF16, TN_DTYPE_F32},
                    {16, 16, 32, TN_DTYPE_I8, TN_DTYPE_I8, TN_DTYPE_I32},
                    {16, 16, 32, TN_DTYPE_U8, TN_DTYPE_U8, TN_DTYPE_I32}};

}  // namespace

std::string SpirvTarget::name() const {
  std::string out = "spirv1.5";
  for (const Row& row : kRows) out += this->*row.member ? row.name : "";
  if (subgroup) out += fmt::format("+subgroup{}", subgroup);
  return atoms.empty() ? out : out + "+coop";
}

GlslOptions SpirvTarget::glsl_options() const {
  GlslOptions options;
  options.preserves_specials = {false, specials, specials && f64};
  const auto keeps_halves = [](const tn_matrix_atom& atom) {
    return atom.a_dtype == TN_DTYPE_F16 && !(atom.numerics & TN_ATOM_FLUSHES_SUBNORMALS);
  };
  options.preserves_denormals = {std::ranges::any_of(atoms, keeps_halves), denormals,
                                 denormals && f64};
  options.rounds_to_even = {false, rounding, rounding && f64};
  options.keeps_loops = is_software;
  return options;
}

std::optional<SpirvTarget> find_spirv_target(std::string_view name) {
  SpirvTarget target;
  if (name == target.name()) return target;
  if (name != "vulkan1.2" && name != kMatrixTarget) return std::nullopt;
  for (const Row& row : kRows) target.*row.member = row.member != &SpirvTarget::is_software;
  if (name != kMatrixTarget) return target;
  target.subgroup = kMatrixSubgroup;
  for (const auto& row : kMatrixAtoms)
    target.atoms.push_back(
        glsl_atom(row.m, row.n, row.k, row.a, row.b, row.accumulator, kMatrixSubgroup, true)
            .value());
  return target;
}

std::unique_ptr<PropertyTable> spirv_properties(const SpirvTarget& target) {
  auto table = shader_properties(target.is_software);
  table->claim(kGlslOps);
  if (target.subgroup) {
    table->claim(kSubgroupOps);
    table->fields().flags |= TN_DEVICE_SUBGROUP_BARRIER;
  }
  if (!target.atoms.empty()) table->claim(kMatrixOps);
  for (const tn_matrix_atom& atom : target.atoms) table->add_atom(atom);
  table->store_all(4).compute_all(1, 2).atomics({TN_DTYPE_I32, TN_DTYPE_U32});
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
  // Private arrays. NVIDIA's compiler refuses kernels with 16 KiB (VkResult -13 on an H100); those
  // of 8 KiB came through WebGPU on the same driver.
  p.max_scratch_bytes = 8192;
  p.subgroup_min = p.subgroup_max = target.subgroup;
  if (target.is_software) p.max_loop_trips = kLlvmpipeLoopTrips;  // it may be that driver
  return table;
}

std::unique_ptr<PropertyTable> named_spirv_properties(std::string_view name) {
  const std::optional<SpirvTarget> target = find_spirv_target(name);
  if (!target) return nullptr;
  auto table = spirv_properties(*target);
  if (!target->atoms.empty()) {
    table->workgroup(kMatrixThreads, kMatrixThreads, 64, kMatrixThreads);
    table->fields().max_shared_bytes = kMatrixShared;
  }
  tn_memory_space space = TN_INIT(tn_memory_space);
  space.flags = TN_MEMORY_DEVICE;
  space.alignment = 256;  // the largest that Vulkan 1.2 allows a device to require
  space.copy_from = 1;
  table->add_memory(space);
  return table;
}

namespace {

/// Why a program with MATRIX ops cannot be printed, or "".
std::string exceeds_words(const ProgramView& program) {
  tn_error error = TN_INIT(tn_error);
  bool uses = false;
  for (uint32_t i = 0; i < program.op_count(); ++i) uses |= is_matrix_op(program.op(i).op);
  if (uses) guarded(&error, [&] { print_glsl(program); });
  return error.message;
}

}  // namespace

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
  return exceeds_words(program);
}

}  // namespace tenon::sdk
