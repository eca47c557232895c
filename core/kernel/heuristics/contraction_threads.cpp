// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions on devices with workgroups: a tile of the result for each workgroup, its operands
// staged through shared memory, a tile of accumulators for each thread or matrix atoms for each
// subgroup.
#include <algorithm>
#include <bit>

#include "core/kernel/heuristics/schedule_builder.hpp"
#include "core/kernel/tree/matrix.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// Threads of a workgroup along x, y and z.
struct Threads {
  int64_t x = 1, y = 1, z = 1;
  int64_t all() const { return x * y * z; }
};

/// Spreads loops over a tile across all threads: lanes innermost, then threads along a row.
void spread(ScheduleBuilder& book, std::vector<int> axes, const Threads& threads, int64_t lanes,
            bool on_y_and_z) {
  axes = book.merge_contiguous(std::move(axes));
  while (axes.size() > 2) {  // rows of a symbolic length
    axes[0] = book.merge(axes[0], axes[1]);
    axes.erase(axes.begin() + 1);
  }
  int row = -1, column = axes.back();
  if (axes.size() == 2) row = axes[0];
  while (lanes > 1 && book.size(column) % lanes != 0) lanes /= 2;
  if (lanes > 1) {
    const auto [rest, lane] = book.split(column, lanes);
    book.vectorize(lane);
    column = rest;
  }
  int64_t across = std::min(threads.x, book.size(column));
  across = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(across)));
  if (row < 0) {
    std::tie(row, column) = book.split(column, across);
  } else if (book.size(column) > across) {
    const auto [rest, inner] = book.split(column, across);
    book.unroll(rest);
    // Rows outside, what is left of the columns inside them, threads innermost.
    column = inner;
    if (across < threads.x)
      fail(ErrorKind::kInvalid, "[rules] expected columns that the threads divide, got others");
  }
  const int64_t others = on_y_and_z ? threads.y * threads.z : 1;
  const int64_t down = threads.x / across;
  int inner = -1;
  std::tie(row, inner) = book.split(row, down * others);
  book.unroll(row);
  if (others > 1 || on_y_and_z) {
    const auto [far, near] = book.split(inner, down);
    const auto [y, z] = book.split(far, threads.z);
    book.bind(y, Bind::kBlockY);
    book.bind(z, Bind::kBlockZ);
    inner = near;
  }
  if (down > 1) column = book.merge(inner, column);
  if (!book.bind(column, Bind::kBlockX))
    fail(ErrorKind::kInvalid, "[rules] expected a copy that threads share, got another");
}

/// The copy loops of the tile that was staged last.
std::vector<int> copy_axes(ScheduleBuilder& book) {
  const int tile = static_cast<int>(book.kernel.buffers.size()) - 1;
  std::vector<int> axes;
  walk(std::as_const(book.kernel).body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kStage && s.buffer == tile) axes = book.chain(s.body[0]);
  });
  return axes;
}

void stage_operand(ScheduleBuilder& book, const KValueRef& load, int at, const Threads& threads) {
  const int64_t pad = std::max<int64_t>(1, 16 / static_cast<int64_t>(dtype_size(load->dtype)));
  if (!book.stage(load->buffer, at, pad))
    fail(ErrorKind::kInvalid, "[rules] expected an operand that can be staged, got another");
  const std::vector<int> axes = copy_axes(book);
  spread(book, axes, threads, book.short_vector(book.loop(axes.front()), axes.back()), true);
}

/// Blocks of the grid and batches.
void bind_blocks(ScheduleBuilder& book, const Matmul& mm, int rows, int columns) {
  bind_grid(book, columns, 1);
  bind_grid(book, rows, 1, Bind::kGridY);
  if (!mm.batch.empty()) bind_grid(book, mm.batch.back(), 1, Bind::kGridZ);
}

/// Of the block tile: so large that operands are read seldom, so small that no core is idle.
int64_t block_tile(const ScheduleBuilder& book, const Matmul& mm, int64_t most) {
  int64_t batch = 1;
  for (const int a : mm.batch) batch *= book.size(a);
  const auto blocks = [&](int64_t tile) {
    return batch * ((book.size(mm.m) + tile - 1) / tile) * ((book.size(mm.n) + tile - 1) / tile);
  };
  while (most > 32 && blocks(most) < std::max<int64_t>(1, book.caps.compute_units)) most /= 2;
  return most;
}

void schedule_registers(ScheduleBuilder& book, const Matmul& mm) {
  const int64_t tile = block_tile(book, mm, 128);
  const int64_t each = tile >= 128 ? 8 : tile >= 64 ? 4 : 2;  // rows and columns of a thread
  const Threads threads{tile / each, tile / each, 1};
  int64_t lanes = std::min<int64_t>(each, book.caps.of(mm.columns->dtype).vector_lanes);
  if (!book.caps.has(Op::BROADCAST) || book.caps.storage_bytes > 1) lanes = 1;
  const auto [m_block, m_inside] = book.split(mm.m, tile);
  const auto [m_thread, m_copy] = book.split(m_inside, each);
  const auto [n_block, n_inside] = book.split(mm.n, tile);
  const auto [n_thread, n_own] = book.split(n_inside, each);
  const auto [k_block, k_step] = book.split(mm.k, 16);
  std::vector<int> order = mm.batch;
  order.insert(order.end(), {m_block, n_block, m_thread, n_thread, m_copy, n_own});
  book.permute(order);
  book.bind(m_thread, Bind::kBlockY);
  book.bind(n_thread, Bind::kBlockX);
  book.unroll(m_copy);
  if (lanes > 1 && lanes < each) {
    const auto [copy, lane] = book.split(n_own, lanes);
    book.unroll(copy);
    book.vectorize(lane);
  } else if (lanes > 1) {
    book.vectorize(n_own);
  } else {
    book.unroll(n_own);
  }
  stage_operand(book, mm.rows, k_block, threads);
  stage_operand(book, mm.columns, k_block, threads);
  bind_blocks(book, mm, m_block, n_block);
}

void schedule_atoms(ScheduleBuilder& book, const Matmul& mm, const MatrixAtom& atom) {
  const int64_t tile = block_tile(book, mm, 128);
  const int64_t beside = tile >= 64 ? 2 : 1;  // subgroups along rows and along columns
  const Threads threads{atom.subgroup, beside, beside};
  const auto [m_block, m_inside] = book.split(mm.m, tile);
  const auto [m_group, m_own] = book.split(m_inside, tile / beside);
  const auto [m_copy, m_atom] = book.split(m_own, atom.m);
  const auto [n_block, n_inside] = book.split(mm.n, tile);
  const auto [n_group, n_own] = book.split(n_inside, tile / beside);
  const auto [n_copy, n_atom] = book.split(n_own, atom.n);
  const auto [k_block, k_inside] = book.split(mm.k, 2 * static_cast<int64_t>(atom.k));
  const auto [k_step, k_atom] = book.split(k_inside, atom.k);
  std::vector<int> order = mm.batch;
  order.insert(order.end(), {m_block, n_block, m_group, n_group, m_copy, m_atom, n_copy, n_atom});
  book.permute(order);
  book.bind(m_group, Bind::kBlockY);
  book.bind(n_group, Bind::kBlockZ);
  for (const int a : {m_copy, m_atom, n_copy, n_atom}) book.unroll(a);
  stage_operand(book, mm.rows, k_block, threads);
  stage_operand(book, mm.columns, k_block, threads);
  book.tensorize(m_atom, n_atom, k_atom, atom.subgroup);
  std::vector<int> axes;
  walk(std::as_const(book.kernel).body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kMatrix) axes = book.chain(s.body[0]);
  });
  spread(book, axes, threads, book.short_vector(book.loop(axes.front()), axes.back()), false);
  bind_blocks(book, mm, m_block, n_block);
}

/// The device's atom for the dtypes of the product, the largest first.
const MatrixAtom* atom_for(const ScheduleBuilder& book, const Matmul& mm) {
  const std::vector<const Statement*> reductions =
      book.reductions(*path_to(const_cast<Kernel&>(book.kernel), mm.m).back());
  const ReduceState& sum = reductions[0]->states[0];
  const MatrixAtom* best = nullptr;
  if (!book.caps.has(Op::MATRIX_MULTIPLY)) return nullptr;
  for (const MatrixAtom& atom : book.caps.atoms) {
    const bool fits = atom.a == mm.rows->dtype && atom.b == mm.columns->dtype &&
                      atom.accumulator == sum.dtype &&
                      book.caps.keeps_promises(atom, sum.precision) &&
                      static_cast<uint32_t>(4 * atom.subgroup) <= book.caps.max_workgroup_threads;
    if (fits && (!best || atom.m * atom.n * atom.k > best->m * best->n * best->k)) best = &atom;
  }
  return best;
}

bool attempt(ScheduleBuilder& book, const std::function<void(ScheduleBuilder&)>& plan) {
  ScheduleBuilder trial(book.kernel, book.caps);
  try {
    plan(trial);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInvalid) throw;
    return false;
  }
  int64_t shared = 0;
  for (const KernelBuffer& b : trial.kernel.buffers)
    if (b.space == BufferSpace::kShared)
      shared += (b.count.value() * book.caps.tile_bytes(b.dtype) + 63) / 64 * 64;
  if (shared > book.caps.max_shared_bytes) return false;
  book.kernel = std::move(trial.kernel);
  book.list.insert(book.list.end(), trial.list.begin(), trial.list.end());
  return true;
}

}  // namespace

bool schedule_tiles(ScheduleBuilder& book, int axis) {
  const std::optional<Matmul> found = find_matmul(book, book.loop(axis));
  if (!found || !book.has_barriers() || book.caps.max_workgroup_threads < 256) return false;
  const Matmul& mm = *found;
  for (const Bind place : {Bind::kBlockX, Bind::kBlockY, Bind::kBlockZ})
    if (book.placed(place) != 0) return false;
  if (book.size(mm.m) < 32 || book.size(mm.n) < 32 || book.size(mm.k) < 16) return false;
  for (const KernelBuffer& b : book.kernel.buffers)
    if (b.space == BufferSpace::kGlobal && b.read && b.written) return false;
  if (const MatrixAtom* atom = atom_for(book, mm))
    if (attempt(book, [&](ScheduleBuilder& trial) { schedule_atoms(trial, mm, *atom); }))
      return true;
  return attempt(book, [&](ScheduleBuilder& trial) { schedule_registers(trial, mm); });
}

}  // namespace tenon
