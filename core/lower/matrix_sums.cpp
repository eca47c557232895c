// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/matrix_sums.hpp"

#include <algorithm>

#include "core/support/error.hpp"

namespace tenon {

std::optional<AtomProduct> MatrixSums::product(const Statement& reduction,
                                               uint32_t subgroup) const {
  const auto [m, n, k] = matrix_axes(kernel_, reduction);
  if (k < 0) return {};
  AtomProduct out{matrix_product(kernel_, reduction, m, n, k), nullptr};
  out.atom = find_atom(kernel_, reduction, out.product, m, n, k, subgroup, capabilities_);
  TN_ASSERT(out.atom);
  return out;
}

MatrixSums::Value MatrixSums::step(const AtomProduct& p, Value sum) {
  const std::vector<Value> operands{leaves_.fragment(p.product.a, *p.atom, TN_MATRIX_A),
                                    leaves_.fragment(p.product.b, *p.atom, TN_MATRIX_B), sum};
  return ops_.tree().pure(TN_OP_MATRIX_MULTIPLY, static_cast<tn_dtype>(p.atom->accumulator),
                          static_cast<uint16_t>(p.atom->c_lanes), operands, p.atom->id);
}

void MatrixSums::keep(int reduction, const AtomProduct& p, std::vector<Value> fragments) {
  sums_[reduction] = {p.atom, positions_.jam(), std::move(fragments)};
}

void MatrixSums::store(const Statement& s) {
  const Sums& sums = sums_.at(s.id);
  const AxisSet outside = positions_.axes_of_reduction(s.id);
  const Value tile = params_.buffer(s.buffer);
  // Unrolled loops between the rows and columns of the atom: they make the tile wider.
  std::vector<int> inside;
  for (const int axis : sums.jam)
    if (std::ranges::find(positions_.jam(), axis) == positions_.jam().end()) inside.push_back(axis);
  // Subgroups along a place that the tiles do not follow have one together.
  const bool is_own = std::ranges::all_of(LaunchPlaces::kBlock, [&](Bind place) {
    return place == Bind::kBlockX || !places_.is_used(place) || places_.is_open(place) ||
           places_.extent(place).is_const(1);
  });
  const uint64_t scope = is_own ? TN_SCOPE_SUBGROUP : TN_SCOPE_BLOCK;
  ops_.tree().effect(TN_OP_BARRIER, {}, scope);
  positions_.in_jam(inside, [&] {
    positions_.each_instance(outside, [&](int) {
      const std::vector<Value> operands{tile, exprs_.integer(s.index), ops_.index_constant(s.pitch),
                                        sums.fragments[positions_.instance(outside)]};
      ops_.tree().effect(TN_OP_MATRIX_STORE, operands, sums.atom->id | TN_MATRIX_C);
    });
  });
  ops_.tree().effect(TN_OP_BARRIER, {}, scope);
  params_.filled(s.buffer);
}

}  // namespace tenon
