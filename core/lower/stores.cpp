// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/stores.hpp"

#include <algorithm>
#include <utility>

#include "core/kernel/tree/shared_tiles.hpp"
#include "core/support/error.hpp"

namespace tenon {

void Stores::store(std::span<const Statement> run) {
  const bool changes = std::ranges::any_of(
      run, [&](const Statement& s) { return is_read_by_others(kernel_.buffers[s.buffer]); });
  const std::optional<Value> first = changes ? first_thread() : std::nullopt;
  if (!first) return store_all(run);
  // Values are computed inside the branch: outside, other threads' loads would race with the
  // stores.
  ops_.tree().begin_if(*first);
  {
    const Leaves::Scope scope(leaves_);
    is_first_ = true;
    store_all(run);
    is_first_ = false;
  }
  ops_.tree().end_if();
}

Stores::Value Stores::is_first_along(Bind dim) {
  return ops_.op(TN_OP_CMPLT, DType::kBool, {launch_.index(dim), ops_.index_constant(1)});
}

Stores::Value Stores::both(const std::optional<Value>& mask, Value more) {
  return mask ? ops_.both(*mask, more) : more;
}

std::optional<Stores::Value> Stores::first_thread() {
  std::optional<Value> first;
  for (const Bind dim : LaunchDims::kBlock) {
    if (!launch_.is_used(dim) || launch_.is_open(dim) || launch_.extent(dim).is_const(1)) continue;
    first = both(first, is_first_along(dim));
  }
  return first;
}

void Stores::store_all(std::span<const Statement> run) {
  // All values before the first store: an output may overwrite what another one reads.
  std::vector<std::vector<Value>> values(run.size());
  std::vector<AxisSet> axes;
  for (size_t i = 0; i < run.size(); ++i) {
    axes.push_back(axes_of(run[i]));
    positions_.each_instance(axes[i],
                             [&](int) { values[i].push_back(leaves_.value(run[i].value)); });
  }
  for (size_t i = 0; i < run.size(); ++i)
    positions_.each_instance(axes[i], [&](int k) { store(run[i], values[i][k]); });
}

AxisSet Stores::axes_of(const Statement& s) {
  // A value may depend on an axis that its index does not: one of one iteration that was padded.
  return positions_.axes_of(s.index) | positions_.axes_of(s.mask) | positions_.axes_of(s.value);
}

void Stores::copy_ahead(std::span<const Statement> run) {
  for (const Statement& s : run)
    positions_.each_instance(axes_of(s), [&](int) {
      if (!copy_async(s)) store(s, leaves_.value(s.value));
    });
}

bool Stores::copy_async(const Statement& s) {
  const KValue& load = *s.value;
  if (load.kind != KValueKind::kLoad || !capabilities_.copies_async() ||
      kernel_.buffers[load.buffer].space != BufferSpace::kGlobal ||
      std::cmp_less(dtype_size(load.dtype), capabilities_.storage_bytes))
    return false;
  const Access to = accesses_.at(s.buffer, s.index, false);
  const Access from = accesses_.at(load.buffer, load.index, false);
  const bool is_run = to.lanes == 1 || (to.flags & from.flags & TN_OP_ALIGNED);
  const uint64_t bytes = static_cast<uint64_t>(to.lanes) * dtype_size(load.dtype);
  if (to.lanes != from.lanes || !is_run || (bytes != 4 && bytes != 8 && bytes != 16)) return false;
  const std::optional<Value> writes = mask(s), reads = accesses_.mask(load);
  int64_t known = 1;
  for (const std::optional<Value>& m : {writes, reads})
    if (m && (ops_.lanes(*m) > 1 || ops_.is_constant(*m, known))) return false;
  OpTree& tree = ops_.tree();
  if (writes) tree.begin_if(*writes);
  if (reads) tree.begin_if(*reads);
  const std::vector<Value> operands{params_.buffer(s.buffer), to.index, params_.buffer(load.buffer),
                                    from.index};
  tree.effect(TN_OP_ASYNC_COPY, operands, bytes);
  if (reads) {
    tree.begin_else();
    const Value fill = ops_.constant(load.dtype, load.constant.bits, to.lanes);
    tree.effect(TN_OP_STORE, std::vector{operands[0], to.index, fill}, 0, to.flags);
    tree.end_if();
  }
  if (writes) tree.end_if();
  return true;
}

std::optional<Stores::Value> Stores::mask(const Statement& s) {
  std::optional<Value> mask;
  guards_.with_off(guards_.filled(s.buffer),
                   [&] { mask = accesses_.mask(s.index, s.mask, positions_.loops()); });
  // Along a launch dimension without an open axis the first thread stores for all.
  const BufferSpace space = kernel_.buffers[s.buffer].space;
  if (space == BufferSpace::kScratch) return mask;
  for (const Bind dim : LaunchDims::kAll) {
    if (!launch_.is_used(dim) || launch_.is_open(dim)) continue;
    if (space != BufferSpace::kGlobal && is_grid(dim)) continue;
    if (is_first_ && is_block(dim)) continue;
    mask = both(mask, is_first_along(dim));
  }
  return mask;
}

void Stores::store(const Statement& s, Value v) {
  const std::optional<Value> mask = this->mask(s);
  int64_t known = 1;
  if (mask && ops_.is_constant(*mask, known) && !known) return;
  const Value to = params_.buffer(s.buffer);
  const Access access = accesses_.at(s.buffer, s.index, mask && ops_.lanes(*mask) > 1);
  if (ops_.lanes(v) > access.lanes) {
    // Lanes of an axis of one iteration that was padded: only the first is in range.
    const int axis = positions_.lane_axis();
    TN_ASSERT(access.lanes == 1 && guards_.ask(AxisSet().set(axis), axis));
    v = ops_.lane(v, 0);
  }
  std::vector<Value> operands{to, access.index, ops_.broadcast(v, access.lanes)};
  if (mask) operands.push_back(*mask);
  uint32_t flags = access.flags;
  if (flags & TN_OP_ALIGNED && !mask && streams(s.buffer, access.lanes)) flags |= TN_OP_STREAM;
  ops_.tree().effect(TN_OP_STORE, operands, 0, flags);
}

bool Stores::streams(int buffer, int lanes) const {
  const KernelBuffer& b = kernel_.buffers[buffer];
  const auto size = static_cast<int64_t>(dtype_size(b.dtype));
  if (b.space != BufferSpace::kGlobal || b.read || lanes * size != capabilities_.vector_bytes)
    return false;
  const int64_t cache =
      capabilities_.l3_bytes ? static_cast<int64_t>(capabilities_.l3_bytes) : int64_t{32} << 20;
  int64_t touched = 0;  // by the kernel
  for (const KernelBuffer& other : kernel_.buffers)
    if (other.space == BufferSpace::kGlobal)
      touched += std::min(cache, other.count.min()) * static_cast<int64_t>(dtype_size(other.dtype));
  return b.count.min() * size > cache / 2 || touched >= cache;
}

}  // namespace tenon
