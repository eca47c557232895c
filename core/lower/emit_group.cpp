// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of a total that the threads of a workgroup hold: those of a subgroup meet by shuffles,
// where the device has them, all others in shared memory.
#include <bit>

#include "core/lower/emitter.hpp"

namespace tenon {

int64_t Emitter::subgroup_threads(const Capabilities& capabilities) {
  const uint32_t size = capabilities.subgroup_max;
  const bool fixed = size > 1 && capabilities.subgroup_min == size && std::has_single_bit(size);
  return fixed && capabilities.has(Op::SUBGROUP_SHUFFLE) ? size : 1;
}

int64_t Emitter::shuffled_threads(int64_t width, const std::vector<Value>& partials) {
  for (const Value v : partials) {
    const size_t bytes = dtype_size(static_cast<DType>(tree_.at(v).dtype));
    if (tree_.at(v).lanes != 1 || (bytes != 4 && bytes != 8)) return 1;
  }
  int64_t threads = 1;
  for (size_t p = 3; p < places_.size(); ++p)
    if (places_[p].used) threads *= places_[p].extent.value();
  const int64_t size = subgroup_threads(capabilities_);
  const bool whole = (subgroup_ == 0 || subgroup_ == size) && threads % size == 0 &&
                     std::has_single_bit(static_cast<uint64_t>(width)) &&
                     (width % size == 0 || size % width == 0);
  return whole ? std::min(size, width) : 1;
}

Emitter::Value Emitter::shuffled_total(const ReduceState& state, Value part, int64_t threads) {
  subgroup_ = static_cast<uint32_t>(subgroup_threads(capabilities_));
  const Value lane = tree_.pure(TN_OP_INDEX, TN_DTYPE_I32, 1, {}, TN_AXIS_SUBGROUP_LANE);
  for (int64_t far = 1; far < threads; far *= 2) {
    const Value other =
        op(TN_OP_XOR, DType::kI32, {lane, constant(DType::kI32, static_cast<uint64_t>(far))});
    const Value got = op(TN_OP_SUBGROUP_SHUFFLE, state.dtype, {part, other});
    part = combine(state.op, state.dtype, part, got);
  }
  return part;
}

std::vector<Emitter::Value> Emitter::group_total(const Active& active,
                                                 const std::vector<Value>& partials) {
  const std::vector<ReduceState>& states = active.statement->states;
  const auto state_of = [&](size_t q) -> const ReduceState& { return states[q % states.size()]; };
  const int64_t all = kernel_.axes[active.group_axis].extent.value();
  std::vector<Value> parts = partials;
  const Bind place_of_group = kernel_.axes[active.group_axis].bind;
  const int64_t together = place_of_group == Bind::kBlockX ? shuffled_threads(all, partials) : 1;
  if (together > 1)
    for (size_t q = 0; q < parts.size(); ++q)
      parts[q] = shuffled_total(state_of(q), parts[q], together);
  const int64_t width = all / together;  // parts that are left
  if (width == 1) return parts;

  const Value thread = launch_index(place_of_group);
  // Threads that differ on other axes reduce apart, each in a row of its own.
  int64_t rows = 1;
  Value row = index_constant(0);
  for (const Bind bind : {Bind::kBlockX, Bind::kBlockY, Bind::kBlockZ}) {
    if (bind == place_of_group) continue;
    const Place& place = places_[static_cast<int>(bind) - static_cast<int>(Bind::kGridX)];
    if (!place.used) continue;
    row = add(row, multiply(launch_index(bind), index_constant(rows)));
    rows *= place.extent.value();
  }
  std::vector<Value> shared;
  for (size_t q = 0; q < parts.size(); ++q) {
    Param p;
    p.kind = Param::Kind::kShared;
    p.dtype = state_of(q).dtype;
    p.count = rows * width * tree_.at(parts[q]).lanes;
    shared.push_back(tree_.param(static_cast<tn_dtype>(p.dtype), params_.size()));
    params_.push_back(p);
  }
  const auto slot = [&](size_t q, Value column) {
    return multiply(add(multiply(row, index_constant(width)), column),
                    index_constant(tree_.at(parts[q]).lanes));
  };
  const auto read = [&](size_t q, Value column) {
    return tree_.load(static_cast<tn_dtype>(state_of(q).dtype), tree_.at(parts[q]).lanes,
                      std::vector<Value>{shared[q], slot(q, column)}, 0, 0, true);
  };
  const auto barrier = [&] { tree_.effect(TN_OP_BARRIER, {}, TN_SCOPE_BLOCK); };

  // Shuffles are between powers of two.
  const auto below = [&](int64_t n) {
    return op(TN_OP_AND, index_, {thread, index_constant(n - 1)});
  };
  for (size_t q = 0; q < parts.size(); ++q) {
    std::vector<Value> operands{shared[q], slot(q, thread), parts[q]};
    if (together > 1) {
      operands[1] = slot(q, op(TN_OP_IDIV, index_, {thread, index_constant(together)}));
      operands.push_back(op(TN_OP_CMPLT, DType::kBool, {below(together), index_constant(1)}));
    }
    tree_.effect(TN_OP_STORE, operands);
  }
  barrier();
  std::vector<Value> totals;
  if (width <= together) {
    // Few enough that each subgroup can take them all up again.
    for (size_t q = 0; q < parts.size(); ++q)
      totals.push_back(shuffled_total(state_of(q), read(q, below(width)), width));
  } else {
    for (int64_t live = width; live > 1;) {
      const int64_t half = (live + 1) / 2;
      tree_.begin_if(op(TN_OP_CMPLT, DType::kBool, {thread, index_constant(live - half)}));
      for (size_t q = 0; q < parts.size(); ++q) {
        const Value other = read(q, add(thread, index_constant(half)));
        const Value sum = combine(state_of(q).op, state_of(q).dtype, read(q, thread), other);
        tree_.effect(TN_OP_STORE, std::vector<Value>{shared[q], slot(q, thread), sum});
      }
      tree_.end_if();
      barrier();
      live = half;
    }
    for (size_t q = 0; q < parts.size(); ++q) totals.push_back(read(q, index_constant(0)));
  }
  if (tree_.in_loop()) barrier();  // the next iteration writes the same places
  return totals;
}

}  // namespace tenon
