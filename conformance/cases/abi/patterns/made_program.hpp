// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that only the device can have made, since they are of an atom that it claims: a step
// `matrix ATOM ROW SEED` of one of a subgroup, `tiles` of one of several subgroups, `dot` of one of
// a thread.
#pragma once

#include <span>
#include <string_view>

#include "conformance/cases/abi/sequence.hpp"
#include "tenon/plugin.h"

namespace tenon::conformance::abi {

/// A pattern: what a program of an atom does, as bits of its family.
struct AtomRow {
  std::string_view name;
  uint32_t uses;
};

struct AtomFamily {
  std::string_view verb;  ///< of the step, and the name of the family
  tn_scope scope;         ///< of the atoms
  tn_opcode op;           ///< that the device has to claim
  std::span<const AtomRow> rows;
  /// A step `program`. Operands are such that sums in any order are exact.
  SequenceStep (*make)(const tn_matrix_atom& atom, uint32_t uses, int64_t seed);
};

std::span<const AtomFamily> atom_families();
/// Null where the verb is of none.
const AtomFamily* find_atom_family(std::string_view verb);

// matrix_program.cpp, tile_program.cpp, dot_program.cpp
AtomFamily matrix_family();
AtomFamily tile_family();
AtomFamily dot_family();

}  // namespace tenon::conformance::abi
