// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws shapes: sizes around the powers of two that vectors, tiles and blocks have, and primes.
#pragma once

#include <string>
#include <vector>

#include "conformance/cases/choices.hpp"
#include "core/expr/expr.hpp"
#include "core/reference/reference.hpp"

namespace tenon::conformance::graphs {

/// Sizes whose product is at most `budget` (zero sizes are rare but legal).
std::vector<int64_t> draw_sizes(Choices& choices, int rank, int64_t budget);
/// One long axis that no tile divides, and small ones: what layer 3 splits and binds.
std::vector<int64_t> draw_tailed_sizes(Choices& choices, int rank);
/// One axis of thousands of elements at `place`, up to 70,000 in all.
std::vector<int64_t> draw_big_sizes(Choices& choices, int rank, int place);
Shape to_shape(const std::vector<int64_t>& sizes);
/// A symbol with a range wide enough for one plan to see many sizes.
Expr draw_symbol(Choices& choices, const std::string& name, int64_t budget);
/// A value for each symbol: mostly edges of tiles, inside its bounds.
SymbolValues draw_symbol_values(Random& random, const std::vector<Expr>& symbols);

std::vector<int64_t> concrete(const Shape& shape, const SymbolValues& symbols);

}  // namespace tenon::conformance::graphs
