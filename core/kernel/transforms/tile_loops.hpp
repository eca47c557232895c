// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over copies of axes, and what stood after a reduction in such loops: it takes the states
// from a tile.
#pragma once

#include <map>

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

struct AxisCopies {
  std::vector<int> axes;
  std::map<std::string, Expr> rename;  ///< positions of the axes to those of their copies
};

/// Parallel axes of the same extents that are not bound, called `a0.c` for the suffix ".c".
AxisCopies copy_axes(Kernel& kernel, const std::vector<int>& axes, std::string_view suffix);

/// What was real for the axes is for their copies.
void copy_guards(Kernel& kernel, const std::map<std::string, Expr>& rename);

/// The statements in loops of these axes, outermost first.
std::vector<Statement> in_loops(const std::vector<int>& axes, std::vector<Statement> inner);

/// The most elements of a tile that transforms make.
inline constexpr int64_t kMostOfTile = 1 << 22;
/// Positions in a tile whose axes are these; -1: more than that, or not known.
int64_t tile_positions(const Kernel& kernel, const std::vector<int>& axes);
/// The position of the axes in it, the last ones next to one another.
Expr tile_place(const Kernel& kernel, const std::vector<int>& axes);
/// A scratch buffer that loops fill for those after them, named with its number.
int add_tile(Kernel& kernel, const std::string& what, DType dtype, int64_t elements);

Statement make_store(int buffer, const Expr& index, KValueRef value);
void append(std::vector<Statement>& to, std::vector<Statement> more);

/// Rewrites statements to stand under the copies: positions and what the data says of them, with
/// `states` (at the positions of the axes) instead of the results of a reduction.
void take_from_tiles(Kernel& kernel, std::vector<Statement>& statements, const AxisCopies& copies,
                     int reduction, const std::vector<KValueRef>& states);

/// Whether a guard asks where the axis stands.
bool is_guarded(const Kernel& kernel, int axis);

}  // namespace tenon
