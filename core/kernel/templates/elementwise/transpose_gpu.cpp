// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise nests with a transposed operand, on devices with workgroups: squares of it go through
// shared memory, so that loads and stores are coalesced.
#include <algorithm>

#include "core/kernel/templates/cooperative_loads.hpp"

namespace tenon {
namespace {

constexpr int64_t kSquare = 32;
constexpr int64_t kTransposeRows = 8;  ///< of a square that the threads process at once
constexpr int64_t kTransposePad =
    1;  ///< elements after each row, against bank conflicts in columns

bool is_across(const ScheduleBuilder& builder, const std::vector<int>& axes, const KValue& load,
               int m) {
  return transposed_axis(builder, axes, load, 1) == m &&
         builder.kernel.buffers[load.buffer].space == BufferSpace::kGlobal;
}

bool with_squares(ScheduleBuilder& builder, const std::vector<int>& axes, int m,
                  const std::vector<int>& buffers) {
  const int n = axes.back();
  const auto [m_squares, m_inside] = builder.split(m, kSquare);
  const auto [n_squares, column] = builder.split(n, kSquare);
  const auto [copy, row] = builder.split(m_inside, kTransposeRows);
  std::vector<int> others;
  for (const int a : axes)
    if (a != m && a != n) others.push_back(a);
  std::vector<int> order = others;
  order.insert(order.end(), {m_squares, n_squares, copy, row, column});
  builder.reorder(order);
  if (!others.empty()) others = {builder.fuse_all(others)};
  if (!builder.bind(row, Bind::kBlockY) || !builder.bind(column, Bind::kBlockX)) return false;
  builder.unroll(copy);
  for (const int buffer : buffers) {
    if (!builder.stage(buffer, n_squares, kTransposePad)) return false;
    spread_over_block(builder, copy_loops(builder), {kSquare, kTransposeRows, 1}, 1, true);
  }
  bind_grid(builder, n_squares, 1);
  bind_grid(builder, m_squares, 1, Bind::kGridY);
  if (!others.empty()) bind_grid(builder, others[0], 1, Bind::kGridZ);
  return !builder.refusal() && fits_shared(builder);
}

}  // namespace

bool schedule_transpose_gpu(ScheduleBuilder& builder, const std::vector<int>& axes) {
  const Statement& nest = builder.loop(axes.front());
  const int n = axes.back();
  // Other nests in the launch could not use threads on y.
  if (builder.kernel.body.size() > 1 || axes.size() < 2 || builder.kind() == DeviceKind::kSpmd ||
      !builder.has_barriers() || builder.threads_on_x(kSquare) < kSquare ||
      builder.threads_on_y(kSquare, kTransposeRows) < kTransposeRows)
    return false;
  for (const Bind place : {Bind::kBlockX, Bind::kBlockY, Bind::kBlockZ})
    if (builder.placed(place) != 0) return false;
  for (const int a : axes)
    if (builder.kernel.axes[a].kind != AxisKind::kParallel) return false;
  for (const Statement& s : builder.loop(n).body)
    if (s.kind != Statement::Kind::kStore || builder.stride(s.index, n) != 1) return false;
  int m = -1;
  for (const KValueRef& v : builder.loads(nest))
    if (m < 0) m = transposed_axis(builder, axes, *v, 1);
  if (m < 0 || builder.size(m) < kSquare || builder.size(n) < kSquare) return false;
  std::vector<int> buffers;
  for (const KValueRef& v : builder.loads(nest))
    if (is_across(builder, axes, *v, m) && !std::ranges::count(buffers, v->buffer))
      buffers.push_back(v->buffer);
  return !buffers.empty() && builder.attempt([&](ScheduleBuilder& trial) {
    return with_squares(trial, axes, m, buffers);
  });
}

}  // namespace tenon
