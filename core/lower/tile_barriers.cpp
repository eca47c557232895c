// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/tile_barriers.hpp"

#include <algorithm>

namespace tenon {
namespace {

bool has_loop(std::span<const Statement> statements) {
  return std::ranges::any_of(statements, [](const Statement& s) { return !s.body.empty(); });
}

}  // namespace

TileBarriers::TileBarriers(const Kernel& kernel, const LaunchDims& launch)
    : kernel_(kernel),
      launch_(launch),
      any_(has_shared_tiles(kernel) && std::ranges::any_of(LaunchDims::kBlock, [&](Bind dim) {
             return launch.is_used(dim) && !launch.extent(dim).is_const(1);
           })) {}

bool TileBarriers::needed(std::span<const Statement> before, std::span<const Statement> after,
                          const Statement* around) const {
  if (!any_ || before.empty()) return false;
  const std::vector<TileAccess> first = shared_tile_accesses(kernel_, before, around);
  if (first.empty()) return false;
  const std::vector<TileAccess> then = shared_tile_accesses(kernel_, after, around);
  // No barrier if each thread accesses the same element before and after.
  const bool same_thread = !has_loop(before) && !has_loop(after) &&
                           std::ranges::all_of(LaunchDims::kBlock, [&](Bind dim) {
                             return !launch_.is_used(dim) || launch_.is_open(dim);
                           });
  return std::ranges::any_of(first, [&](const TileAccess& a) {
    return std::ranges::any_of(then, [&](const TileAccess& b) {
      return a.tile == b.tile && (a.writes || b.writes) && !(same_thread && a.index == b.index);
    });
  });
}

bool TileBarriers::needed_between_iterations(const Statement& loop, const Statement* around) const {
  if (!any_) return false;
  const std::vector<TileAccess> all = shared_tile_accesses(kernel_, loop.body, around);
  const KernelAxis& axis = kernel_.axes[loop.axis];
  return std::ranges::any_of(all, [&](const TileAccess& a) {
    return a.writes && std::ranges::any_of(all, [&](const TileAccess& b) {
             return a.tile == b.tile && !are_disjoint(a, b, axis);
           });
  });
}

}  // namespace tenon
