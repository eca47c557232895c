// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/render/gpu_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sdk/render/gpu_types.hpp"

namespace tenon::sdk {
namespace {

/// Whether the lines of an operand run along k.
bool is_along_k(const tn_op& load) {
  const bool is_a = (load.imm & TN_MATRIX_ROLE) == TN_MATRIX_A;
  return is_a != ((load.imm & TN_MATRIX_TRANSPOSED) != 0);
}

}  // namespace

bool uses_tiles(const ProgramView& program, std::span<const GpuAtom> atoms) {
  return std::ranges::any_of(atoms, [&](const GpuAtom& a) {
    return a.atom.scope == TN_SCOPE_BLOCK && a.atom.subgroup == program.header().subgroup_size;
  });
}

std::string gpu_tile_statement(const ProgramView& program, const tn_op& op, const GpuAtom& atom,
                               const std::string& name, const std::vector<std::string>& operands) {
  const auto values = program.operands(op);
  if (op.op == TN_OP_MATRIX_LOAD) {
    // PTX ISA, "Matrix Descriptor Format", with 128-byte swizzle.
    return fmt::format("const unsigned long long {} = tn_tile_at({} + {}, {} * {});", name,
                       operands[0], operands[1], operands[2],
                       dtype_bytes(static_cast<uint8_t>(op.dtype)));
  }
  const auto turned = [&](size_t k) { return is_along_k(program.op(values[k])) ? 0 : 1; };
  return fmt::format(
      "alignas(16) {0} {1}[{2}];\n"
      "_Pragma(\"unroll\") for (int l = 0; l < {2}; ++l) {1}[l] = {3}[l];\n"
      "{4}<{5}, {6}>({1}, {7}, {8});",
      gpu_type(op.dtype), name, op.lanes, operands[2], atom.multiply, turned(0), turned(1),
      operands[0], operands[1]);
}

std::string gpu_tile_wait(const std::string& fragment, uint32_t lanes) {
  return fmt::format("tn_products_wait();\ntn_hold<{}>({});\n", lanes, fragment);
}

std::string gpu_tile_barrier(const tn_op& op, const std::string& block_barrier) {
  const std::string before = "tn_products_wait();\ntn_tiles_written();\n";
  return before + (op.imm == TN_SCOPE_BLOCK ? block_barrier : "tn_group_barrier(1 + tn_subgroup);");
}

}  // namespace tenon::sdk
