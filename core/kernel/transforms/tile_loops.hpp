// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers of transforms that materialise a reduction's results in a tile and move its users to new
// loops, over copies of the axes.
#pragma once

#include <map>

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

struct AxisCopies {
  std::vector<int> axes;
  std::map<std::string, Expr> rename;  ///< symbols of the axes to those of their copies
};

/// Adds unbound parallel axes of the same extents, named `a0.c` for the suffix ".c".
AxisCopies copy_axes(Kernel& kernel, const std::vector<int>& axes, std::string_view suffix);

/// Adds the guards of the axes for their copies.
void copy_guards(Kernel& kernel, const std::map<std::string, Expr>& rename);

/// Wraps the statements in loops over the axes, outermost first.
std::vector<Statement> in_loops(const std::vector<int>& axes, std::vector<Statement> inner);

/// The most elements of a tile that transforms make.
inline constexpr int64_t kMostOfTile = 1 << 22;
/// Elements of a tile over the axes; -1 if it exceeds kMostOfTile or is not constant.
int64_t tile_positions(const Kernel& kernel, const std::vector<int>& axes);
/// Row-major index in such a tile.
Expr tile_place(const Kernel& kernel, const std::vector<int>& axes);
/// Adds a materialised scratch buffer, named `what` and its number; returns the number.
int add_tile(Kernel& kernel, const std::string& what, DType dtype, int64_t elements);

Statement make_store(int buffer, const Expr& index, KValueRef value);
void append(std::vector<Statement>& to, std::vector<Statement> more);

/// Moves statements to the copies of the axes: renames symbols, copies lets that depend on them,
/// and replaces results of `reduction` by `states`, which are given at the original axes.
void load_from_tiles(Kernel& kernel, std::vector<Statement>& statements, const AxisCopies& copies,
                     int reduction, const std::vector<KValueRef>& states);

/// True if a guard depends on the axis.
bool is_guarded(const Kernel& kernel, int axis);

}  // namespace tenon
