// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/matrix_sums.hpp"

#include <algorithm>

#include "core/kernel/tree/register_tiles.hpp"
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

void MatrixSums::set_fragments(int reduction, const AtomProduct& p, std::vector<Value> fragments) {
  sums_[reduction] = {p.atom, positions_.jam(), std::move(fragments)};
}

void MatrixSums::store(const Statement& s) {
  const Sums& sums = sums_.at(s.id);
  const AxisSet outside = positions_.axes_of_reduction(s.id);
  // Unrolled loops between the atom's rows and columns, which widen the tile.
  std::vector<int> inside;
  for (const int axis : sums.jam)
    if (std::ranges::find(positions_.jam(), axis) == positions_.jam().end()) inside.push_back(axis);
  // Subgroups share a tile along launch dimensions that have no open axis.
  const bool is_own = std::ranges::all_of(LaunchDims::kBlock, [&](Bind dim) {
    return dim == Bind::kBlockX || !launch_.is_used(dim) || launch_.is_open(dim) ||
           launch_.extent(dim).is_const(1);
  });
  const bool is_put = s.use == Statement::MatrixUse::kPut;  // barriers are around it
  const uint64_t scope = is_own ? TN_SCOPE_SUBGROUP : TN_SCOPE_BLOCK;
  if (!is_put) ops_.tree().effect(TN_OP_BARRIER, {}, scope);
  positions_.in_jam(inside, [&] {
    positions_.each_instance(
        outside, [&](int) { put(s, *sums.atom, sums.fragments[positions_.instance(outside)]); });
  });
  if (!is_put) ops_.tree().effect(TN_OP_BARRIER, {}, scope);
  params_.filled(s.buffer);
}

const Statement& MatrixSums::reduction(int id) const {
  const Statement* found = nullptr;
  walk(kernel_.body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kReduce && s.id == id) found = &s;
  });
  TN_ASSERT(found);
  return *found;
}

std::vector<MatrixSums::Value> MatrixSums::operands(const Statement& s) const {
  return {params_.buffer(s.buffer), exprs_.integer(s.index), ops_.index_constant(s.pitch)};
}

uint64_t MatrixSums::role(const Statement& s, const MatrixAtom& atom) {
  return atom.id | TN_MATRIX_C | (s.transposed ? TN_MATRIX_TRANSPOSED : 0);
}

void MatrixSums::begin(const Statement& s) {
  const std::optional<AtomProduct> p = product(reduction(s.id), launch_.subgroup());
  Sums sums{p->atom, positions_.jam(), {}};
  AxisSet all;
  for (const int axis : sums.jam) all.set(static_cast<size_t>(axis));
  positions_.each_instance(all, [&](int) {
    if (is_register_tile(kernel_.buffers[s.buffer]))
      sums.fragments.push_back(leaves_.from_registers(s.buffer, s.index, offsets(s, *p->atom)));
    else
      sums.fragments.push_back(ops_.tree().matrix_load(
          static_cast<tn_dtype>(p->atom->accumulator), static_cast<uint16_t>(p->atom->c_lanes),
          operands(s), role(s, *p->atom), ops_.tree().region()));
  });
  sums_[s.id] = std::move(sums);
}

void MatrixSums::end(const Statement& s) {
  const Sums& sums = sums_.at(s.id);
  AxisSet all;
  for (const int axis : positions_.jam()) all.set(static_cast<size_t>(axis));
  positions_.each_instance(
      all, [&](int i) { put(s, *sums.atom, sums.fragments[static_cast<size_t>(i)]); });
  params_.filled(s.buffer);
}

std::vector<int64_t> MatrixSums::offsets(const Statement& s, const MatrixAtom& atom) {
  return lane_offsets(*atom.layouts[2], atom.c_lanes, s.transposed ? 1 : s.pitch,
                      s.transposed ? s.pitch : 1);
}

void MatrixSums::put(const Statement& s, const MatrixAtom& atom, Value fragment) {
  const KernelBuffer& tile = kernel_.buffers[s.buffer];
  if (!is_register_tile(tile)) {
    std::vector<Value> all = operands(s);
    all.push_back(fragment);
    ops_.tree().effect(TN_OP_MATRIX_STORE, all, role(s, atom));
    return;
  }
  const Value first = exprs_.integer(register_place(kernel_, tile, s.index));
  const std::vector<int64_t> places = offsets(s, atom);
  for (size_t l = 0; l < places.size(); ++l)
    ops_.tree().effect(
        TN_OP_STORE,
        std::vector<Value>{params_.buffer(s.buffer),
                           ops_.add(first, ops_.index_constant(register_place(tile, places[l]))),
                           ops_.lane(fragment, static_cast<int>(l))});
}

/// The scale of each row as a fragment with equal columns.
MatrixSums::Value MatrixSums::scale_of_rows(const KValue& scale, const MatrixAtom& atom) {
  const auto dtype = static_cast<tn_dtype>(atom.accumulator);
  const auto lanes = static_cast<uint16_t>(atom.c_lanes);
  if (is_register_tile(kernel_.buffers[scale.buffer]))
    return leaves_.from_registers(scale.buffer, scale.index,
                                  lane_offsets(*atom.layouts[2], lanes, 1, 0));
  const std::vector<Value> column{params_.buffer(scale.buffer), exprs_.integer(scale.index),
                                  ops_.index_constant(0)};
  return ops_.tree().matrix_load(dtype, lanes, column, atom.id | TN_MATRIX_C | TN_MATRIX_TRANSPOSED,
                                 ops_.tree().region());
}

std::vector<MatrixSums::Value> MatrixSums::before(const Statement& reduction, const AtomProduct& p,
                                                  const AxisSet& outside) {
  const std::vector<Value> past = carried(reduction.id);
  const KValue& scale = *reduction.value;
  const auto dtype = static_cast<tn_dtype>(p.atom->accumulator);
  const auto lanes = static_cast<uint16_t>(p.atom->c_lanes);
  std::vector<Value> out;
  positions_.each_instance(outside, [&](int i) {
    const Value factor = scale_of_rows(scale, *p.atom);
    const std::vector<Value> both{past[static_cast<size_t>(i)], factor};
    out.push_back(ops_.tree().pure(TN_OP_MUL, dtype, lanes, both));
  });
  return out;
}

}  // namespace tenon
