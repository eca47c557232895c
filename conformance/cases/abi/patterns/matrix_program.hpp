// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of one matrix atom each, as a device claims it.
#pragma once

#include <array>
#include <string_view>

#include "conformance/cases/abi/sequence.hpp"
#include "tenon/plugin.h"

namespace tenon::conformance::abi {

/// What a program does otherwise than load a and b row by row, multiply once onto zeros, and store.
enum MatrixUse : uint32_t {
  kTransposedA = 1,
  kTransposedB = 2,
  kTransposedC = 4,     ///< where it is loaded, and where it is stored
  kWideStrides = 8,     ///< rows further apart than they are long
  kLoadsC = 16,         ///< the sum begins with what memory has
  kInPlace = 32,        ///< and is stored where that was
  kUsedAgain = 64,      ///< operands of one multiplication in a second one
  kChained = 128,       ///< sums onto sums, in a loop over k
  kOnFragments = 256,   ///< elementwise ops between
  kTwoSubgroups = 512,  ///< each with its own matrices
  kShared = 1024,       ///< a and b from shared memory
  kInBranch = 2048      ///< under a condition that is equal in each subgroup, two-sided
};

struct MatrixRow {
  std::string_view name;
  uint32_t uses;
};
inline constexpr std::array kMatrixRows = {
    MatrixRow{"plain", 0},
    MatrixRow{"a_transposed", kTransposedA},
    MatrixRow{"b_transposed", kTransposedB},
    MatrixRow{"c_transposed", kTransposedC | kLoadsC},
    MatrixRow{"all_transposed", kTransposedA | kTransposedB | kTransposedC | kLoadsC},
    MatrixRow{"strides", kWideStrides | kLoadsC},
    MatrixRow{"strides_transposed", kWideStrides | kTransposedA | kTransposedB | kTransposedC},
    MatrixRow{"accumulates", kLoadsC},
    MatrixRow{"in_place", kLoadsC | kInPlace},
    MatrixRow{"in_place_transposed", kLoadsC | kInPlace | kTransposedC},
    MatrixRow{"used_again", kUsedAgain},
    MatrixRow{"used_again_in_place", kUsedAgain | kLoadsC | kInPlace},
    MatrixRow{"loop", kChained},
    MatrixRow{"loop_transposed", kChained | kTransposedA | kTransposedB | kWideStrides},
    MatrixRow{"on_fragments", kOnFragments | kLoadsC},
    MatrixRow{"two_subgroups", kTwoSubgroups | kLoadsC},
    MatrixRow{"shared", kShared},
    MatrixRow{"shared_transposed", kShared | kTransposedA | kTransposedB},
    MatrixRow{"branch", kTwoSubgroups | kInBranch},
    MatrixRow{"branch_used_again", kTwoSubgroups | kInBranch | kUsedAgain},
};

/// A step `program`. Operands are small whole numbers, so that sums in any order are exact.
SequenceStep matrix_program(const tn_matrix_atom& atom, const MatrixRow& row, int64_t seed);

}  // namespace tenon::conformance::abi
