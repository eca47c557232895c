// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix atoms of several subgroups, which read their operands from tiles in shared memory that are
// in lines (TN_SCOPE_BLOCK): wgmma. A fragment of an operand is a word that says where it lies.
//
// Products are begun and waited for at the next barrier, so that what a barrier lets others write
// has been read; and before a fragment of sums is stored.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sdk/render/gpu_matrix.hpp"

namespace tenon::sdk {

/// Whether what the program calls its subgroup is that of such an atom.
bool uses_tiles(const ProgramView& program, std::span<const GpuAtom> atoms);

/// Statements of MATRIX_LOAD of an operand, and of MATRIX_MULTIPLY.
std::string gpu_tile_statement(const ProgramView& program, const tn_op& op, const GpuAtom& atom,
                               const std::string& name, const std::vector<std::string>& operands);

/// Before sums are stored: `fragment` has them from here on.
std::string gpu_tile_sums(const std::string& fragment, uint32_t lanes);

/// A BARRIER in a program that uses tiles.
std::string gpu_tile_barrier(const tn_op& op, const std::string& block_barrier);

}  // namespace tenon::sdk
