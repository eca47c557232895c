// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that hold a pattern known to go wrong, from tables that are multiplied out: every idiom
// with every dtype, every order of neighbouring accesses with every space, and so on. What a table
// leaves open (constants, widths, scopes, counts) is drawn. They are legal by construction as those
// of program_draw.cpp are, and held against the same model.
//
// A case is a cell "api.<family>" of the pattern's dtype, its layout the pattern's name: so a
// report counts how many programs held each (`--stats`).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/abi/sequence.hpp"
#include "tenon/program.h"

namespace tenon::conformance::abi {

struct DrawnPattern {
  std::vector<SequenceStep> steps;
  tn_dtype dtype = TN_DTYPE_VOID;  ///< VOID where the device says which
};

struct Pattern {
  std::string_view family;
  std::string name;  ///< or several, with ", " between them
  std::function<DrawnPattern(Choices&)> draw;
};

/// All of them, in a fixed order: families by turns, so that a few of them are some of each.
const std::vector<Pattern>& all_patterns();

/// In `--stats`, whatever was tried.
inline constexpr std::string_view kFamilies[] = {"idioms",   "neighbours", "cooperation", "depth",
                                                 "products", "orders",     "loops",       "matrix",
                                                 "tiles",    "dot"};

std::vector<Pattern> idiom_patterns();
std::vector<Pattern> neighbour_patterns();
std::vector<Pattern> cooperation_patterns();
std::vector<Pattern> depth_patterns();
std::vector<Pattern> product_patterns();
std::vector<Pattern> order_patterns();
std::vector<Pattern> loop_patterns();
/// Of an AtomFamily.
std::vector<Pattern> atom_patterns(std::string_view verb);

}  // namespace tenon::conformance::abi
