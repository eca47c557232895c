// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensorized reductions: fragments are loaded, multiplied, carried like other accumulators, and
// stored into the tile of their subgroup.
#include "core/lower/emitter.hpp"
#include "core/support/error.hpp"

namespace tenon {

bool Emitter::begin_matrix(Active& active) {
  const Statement& s = *active.statement;
  active.matrix = matrix_axes(kernel_, s);
  const auto [m, n, k] = active.matrix;
  if (k < 0) return false;
  active.product = matrix_product(kernel_, s, m, n, k);
  active.atom = find_atom(kernel_, s, active.product, m, n, k, subgroup_, capabilities_);
  TN_ASSERT(active.atom);
  active.jam = jam_;
  active.accumulators.assign(
      static_cast<size_t>(active.instances) * static_cast<size_t>(active.copies),
      constant(s.states[0].dtype, 0, active.atom->c_lanes));
  return true;
}

Emitter::Value Emitter::fragment(const MatrixOperand& operand, uint64_t role) {
  const KValue& load = *operand.load;
  const Key key{&load, instance(dependence_.of(operand.load))};
  for (size_t i = memo_.size(); i-- > 0;)
    if (const auto found = memo_[i].find(key); found != memo_[i].end()) return found->second;
  const MatrixAtom& atom = *active_->atom;
  const int lanes = role == TN_MATRIX_A ? atom.a_lanes : atom.b_lanes;
  const std::vector<Value> operands{buffer(load.buffer), integer(load.index),
                                    index_constant(operand.stride)};
  const uint64_t imm = atom.id | role | (operand.transposed ? TN_MATRIX_TRANSPOSED : 0);
  const uint32_t floor = tree_.inner(tree_.conditional(), floor_[load.buffer]);
  return memo_.back()[key] = tree_.matrix_load(static_cast<tn_dtype>(load.dtype),
                                               static_cast<uint16_t>(lanes), operands, imm, floor);
}

void Emitter::multiply_step() {
  Active& active = *active_;
  each_instance(active.outside | active.own, [&](int i) {
    Value& sum = active.accumulators[static_cast<size_t>(i)];
    const std::vector<Value> operands{fragment(active.product.a, TN_MATRIX_A),
                                      fragment(active.product.b, TN_MATRIX_B), sum};
    sum = tree_.pure(TN_OP_MATRIX_MULTIPLY, static_cast<tn_dtype>(active.atom->accumulator),
                     static_cast<uint16_t>(active.atom->c_lanes), operands, active.atom->id);
  });
}

void Emitter::take_sums(const Statement& s) {
  const Active& sums = sums_.at(s.id);
  AxisSet open;
  for (const int axis : jam_) open.set(axis);
  open &= ~pinned_;
  const AxisSet before = pinned_;
  // Unrolled loops between the rows and columns of the atom: they make the tile wider.
  std::vector<int> inside;
  for (const int axis : sums.jam)
    if (std::ranges::find(jam_, axis) == jam_.end()) inside.push_back(axis);
  each_instance(open, [&](int) {
    pinned_ = before | open;
    jam_.insert(jam_.end(), inside.begin(), inside.end());
    tree_.effect(TN_OP_BARRIER, {}, TN_SCOPE_SUBGROUP);
    each_instance(sums.outside, [&](int) {
      const std::vector<Value> operands{buffer(s.buffer), integer(s.index), index_constant(s.pitch),
                                        sums.accumulators[instance(sums.outside)]};
      tree_.effect(TN_OP_MATRIX_STORE, operands, sums.atom->id | TN_MATRIX_C);
    });
    jam_.resize(jam_.size() - inside.size());
    tree_.effect(TN_OP_BARRIER, {}, TN_SCOPE_SUBGROUP);
    floor_[s.buffer] = tree_.region();
    tree_.changed(buffer(s.buffer));
    push_memo();
    body(s.body);
    pop_memo();
    pinned_ = before;
  });
}

}  // namespace tenon
