// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix atoms of several subgroups (wgmma), which read their operands from tiles in shared memory,
// laid out in lines (TN_SCOPE_BLOCK). An operand fragment is a matrix descriptor.
//
// Products are asynchronous. They are waited for at the next barrier, after which tiles may be
// overwritten, and before a fragment of sums is stored.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sdk/render/gpu_matrix.hpp"

namespace tenon::sdk {

/// Whether the program uses such an atom, whose threads are its subgroup.
bool uses_tiles(const ProgramView& program, std::span<const GpuAtom> atoms);

/// Statements of an operand's MATRIX_LOAD, and of MATRIX_MULTIPLY.
std::string gpu_tile_statement(const ProgramView& program, const tn_op& op, const GpuAtom& atom,
                               const std::string& name, const std::vector<std::string>& operands);

/// Waits for the sums, before a store: `fragment` is valid after it.
std::string gpu_tile_wait(const std::string& fragment, uint32_t lanes);

/// A BARRIER in a program with tiles.
std::string gpu_tile_barrier(const tn_op& op, const std::string& block_barrier);

}  // namespace tenon::sdk
