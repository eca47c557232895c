// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/group_totals.hpp"

#include <algorithm>
#include <bit>

namespace tenon {
namespace {

/// Threads of a subgroup with shuffles; 1: none.
int64_t subgroup_threads(const Capabilities& capabilities) {
  const uint32_t size = capabilities.subgroup_max;
  const bool fixed = size > 1 && capabilities.subgroup_min == size && std::has_single_bit(size);
  return fixed && capabilities.has(Op::SUBGROUP_SHUFFLE) ? size : 1;
}

}  // namespace

int64_t GroupTotals::shuffled_threads(int64_t width, const std::vector<Value>& parts) const {
  for (const Value v : parts) {
    const size_t bytes = dtype_size(static_cast<DType>(ops_.tree().at(v).dtype));
    if (ops_.lanes(v) != 1 || (bytes != 4 && bytes != 8)) return 1;
  }
  const int64_t size = subgroup_threads(capabilities_);
  // Some drivers have no subgroups across rows of threads; those with matrix atoms do.
  const bool rows = launch_.spans_rows() || (launch_.is_used(Bind::kBlockX) &&
                                             launch_.extent(Bind::kBlockX).value() % size == 0);
  const bool whole = (launch_.subgroup() == 0 || launch_.subgroup() == size) && rows &&
                     std::has_single_bit(static_cast<uint64_t>(width)) &&
                     (width % size == 0 || size % width == 0);
  return whole ? std::min(size, width) : 1;
}

GroupTotals::Value GroupTotals::shuffled_total(const ReduceState& state, Value part,
                                               int64_t threads) {
  launch_.count_on_subgroup(static_cast<uint32_t>(subgroup_threads(capabilities_)));
  const Value lane = ops_.tree().pure(TN_OP_INDEX, TN_DTYPE_I32, 1, {}, TN_AXIS_SUBGROUP_LANE);
  for (int64_t far = 1; far < threads; far *= 2) {
    const Value other = ops_.op(TN_OP_XOR, DType::kI32,
                                {lane, ops_.constant(DType::kI32, static_cast<uint64_t>(far))});
    const Value got = ops_.op(TN_OP_SUBGROUP_SHUFFLE, state.dtype, {part, other});
    part = ops_.combine(state.op, state.dtype, part, got);
  }
  return part;
}

std::vector<GroupTotals::Value> GroupTotals::totals(const std::vector<ReduceState>& states,
                                                    const KernelAxis& group,
                                                    std::vector<Value> parts) {
  OpTree& tree = ops_.tree();
  const DType index = ops_.index_dtype();
  const auto state_of = [&](size_t q) -> const ReduceState& { return states[q % states.size()]; };
  const int64_t all = group.extent.value();
  const int64_t together = group.bind == Bind::kBlockX ? shuffled_threads(all, parts) : 1;
  if (together > 1)
    for (size_t q = 0; q < parts.size(); ++q)
      parts[q] = shuffled_total(state_of(q), parts[q], together);
  const int64_t width = all / together;  // parts that are left
  if (width == 1) return parts;

  const Value thread = launch_.index(group.bind);
  // Threads that differ on other axes reduce separately, each in its own row.
  int64_t rows = 1;
  Value row = ops_.index_constant(0);
  for (const Bind bind : LaunchDims::kBlock) {
    if (bind == group.bind || !launch_.is_used(bind)) continue;
    row = ops_.add(row, ops_.multiply(launch_.index(bind), ops_.index_constant(rows)));
    rows *= launch_.extent(bind).value();
  }
  std::vector<Value> shared;
  for (size_t q = 0; q < parts.size(); ++q)
    shared.push_back(params_.shared(state_of(q).dtype, rows * width * ops_.lanes(parts[q])));
  const auto slot = [&](size_t q, Value column) {
    return ops_.multiply(ops_.add(ops_.multiply(row, ops_.index_constant(width)), column),
                         ops_.index_constant(ops_.lanes(parts[q])));
  };
  const auto read = [&](size_t q, Value column) {
    return tree.load(static_cast<tn_dtype>(state_of(q).dtype), tree.at(parts[q]).lanes,
                     std::vector<Value>{shared[q], slot(q, column)}, 0, 0, true);
  };
  const auto barrier = [&] { tree.effect(TN_OP_BARRIER, {}, TN_SCOPE_BLOCK); };

  // Only called with powers of two.
  const auto below = [&](int64_t n) {
    return ops_.op(TN_OP_AND, index, {thread, ops_.index_constant(n - 1)});
  };
  for (size_t q = 0; q < parts.size(); ++q) {
    std::vector<Value> operands{shared[q], slot(q, thread), parts[q]};
    if (together > 1) {
      operands[1] = slot(q, ops_.op(TN_OP_IDIV, index, {thread, ops_.index_constant(together)}));
      operands.push_back(
          ops_.op(TN_OP_CMPLT, DType::kBool, {below(together), ops_.index_constant(1)}));
    }
    tree.effect(TN_OP_STORE, operands);
  }
  barrier();
  std::vector<Value> totals;
  if (width <= together) {
    // Few enough for each subgroup to load and combine all of them.
    for (size_t q = 0; q < parts.size(); ++q)
      totals.push_back(shuffled_total(state_of(q), read(q, below(width)), width));
  } else {
    for (int64_t live = width; live > 1;) {
      const int64_t half = (live + 1) / 2;
      tree.begin_if(ops_.op(TN_OP_CMPLT, DType::kBool, {thread, ops_.index_constant(live - half)}));
      for (size_t q = 0; q < parts.size(); ++q) {
        const ReduceState& state = state_of(q);
        const Value other = read(q, ops_.add(thread, ops_.index_constant(half)));
        const Value sum = ops_.combine(state.op, state.dtype, read(q, thread), other);
        tree.effect(TN_OP_STORE, std::vector<Value>{shared[q], slot(q, thread), sum});
      }
      tree.end_if();
      barrier();
      live = half;
    }
    for (size_t q = 0; q < parts.size(); ++q) totals.push_back(read(q, ops_.index_constant(0)));
  }
  if (tree.in_loop()) barrier();  // the next iteration overwrites the shared memory
  return totals;
}

}  // namespace tenon
