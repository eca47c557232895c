// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix fragments in CUDA and HIP. The atom defines which elements each thread holds.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/program/view.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

/// Bits of rows and columns, as in tn_matrix_atom. "t2 t3 l1" means bits 2 and 3 of the thread,
/// then bit 1 of the lane.
struct GpuLayout {
  uint8_t bits[16] = {};
  constexpr GpuLayout(std::string_view row, std::string_view column) {
    read(row, bits);
    read(column, bits + 8);
  }

 private:
  static constexpr void read(std::string_view text, uint8_t* to) {
    for (size_t i = 0; i < text.size(); i += 3)
      *to++ = static_cast<uint8_t>((text[i] == 't' ? TN_BIT_OF_THREAD : TN_BIT_OF_LANE) |
                                   static_cast<uint32_t>(text[i + 1] - '0'));
  }
};

/// An instruction that loads a whole fragment from shared memory with aligned rows of 16 bytes: a
/// call with the fragment and the address of thread t, which is element `column` of memory row
/// `row`.
struct GpuTileLoad {
  std::string_view call;  ///< empty if there is none
  std::string_view row, column;
};

struct GpuAtom {
  tn_matrix_atom atom;
  GpuTileLoad plain[2];  ///< of A and B
  GpuTileLoad transposed[2];
  std::string_view multiply;  ///< a call with d, a, b, c; a fragment of one lane is passed by value
};

constexpr tn_matrix_atom with_layouts(tn_matrix_atom atom, const GpuLayout& a, const GpuLayout& b,
                                      const GpuLayout& c) {
  std::copy(std::begin(a.bits), std::end(a.bits), atom.a_layout);
  std::copy(std::begin(b.bits), std::end(b.bits), atom.b_layout);
  std::copy(std::begin(c.bits), std::end(c.bits), atom.c_layout);
  return atom;
}

/// Statements of MATRIX_LOAD, MATRIX_MULTIPLY and MATRIX_STORE. `name` and `operands` as in
/// Dialect::statement.
std::string gpu_matrix_statement(const ProgramView& program, const tn_op& op, const GpuAtom& atom,
                                 const std::string& name, const std::vector<std::string>& operands);

/// For each value, the number of low bits known to be 0 for all launches, at most 16; 0 for values
/// that are not integers. Follows constants, sums, products, shifts, casts and loops.
std::vector<uint8_t> known_zero_bits(const ProgramView& program);

}  // namespace tenon::sdk
