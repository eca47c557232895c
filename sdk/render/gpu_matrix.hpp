// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix fragments in CUDA and HIP: a table says which element a thread holds where.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sdk/program/view.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

/// Element (row, column) that thread t of the subgroup holds in its lane l, as expressions of t and
/// l. `run` lanes from a multiple of it on are neighbours along the row, or along the column.
struct GpuLayout {
  std::string_view row, column;
  uint32_t run = 1;
  bool run_is_down = false;  ///< the neighbours are one below the other
};

/// One instruction that loads a whole fragment from shared memory whose rows of 16 bytes are
/// aligned: a call with the fragment and the address that thread t gives, at memory row `row` and
/// element `column` of it.
struct GpuTileLoad {
  std::string_view call;  ///< empty if there is none
  std::string_view row, column;
};

struct GpuAtom {
  tn_matrix_atom atom;
  GpuLayout layout[3];   ///< by role: A, B, C
  GpuTileLoad plain[2];  ///< of A and B
  GpuTileLoad transposed[2];
  std::string_view multiply;  ///< a call with d, a, b, c: what has one lane by its value
};

/// Statements of MATRIX_LOAD, MATRIX_MULTIPLY and MATRIX_STORE. `name` and `operands` as in
/// Dialect::statement.
std::string gpu_matrix_statement(const ProgramView& program, const tn_op& op, const GpuAtom& atom,
                                 const std::string& name, const std::vector<std::string>& operands);

/// For each value how many of its low bits are known to be 0 whatever the launch binds, at most 16;
/// 0 for what is no integer. Looks through constants, sums, products, shifts, casts and loops.
std::vector<uint8_t> known_zero_bits(const ProgramView& program);

}  // namespace tenon::sdk
