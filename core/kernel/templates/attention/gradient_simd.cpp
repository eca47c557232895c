// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention's gradient on SIMD processors: sums over pointwise functions of rematerialised
// products. Blocks of rows (the products' other axis) by blocks of the sum. Lanes run along the
// rows for the products and weights, and along the results' last axis for the sums. Only the
// operands that depend on the rows are packed, once a block.
#include <algorithm>
#include <span>

#include "core/kernel/templates/attention/attention.hpp"

namespace tenon {
namespace {

/// Rows and terms of a block: its tiles stay in the private cache.
constexpr int64_t kBlockRows = 64, kBlockTerms = 64;

struct Rematerialised {
  std::vector<int> batch, own;
  int row = -1, terms = -1;
  size_t sums = 0;
  std::vector<int> packed;  ///< buffers
};

std::vector<KValueRef> loads_below(const KValueRef& value) {
  std::vector<KValueRef> out;
  visit(value, [&](const KValueRef& v) {
    if (v->kind == KValueKind::kLoad) out.push_back(v);
  });
  return out;
}

std::optional<Rematerialised> find_rematerialised(ScheduleBuilder& builder, int axis) {
  const std::vector<int> axes = builder.perfect_nest(builder.loop(axis));
  const std::vector<Statement>& body = builder.loop(axes.back()).body;
  if (body.empty() || body.front().kind != Statement::Kind::kReduce ||
      body.front().body.size() != 1 || body.front().body[0].kind != Statement::Kind::kLoop)
    return std::nullopt;
  const Statement& terms = body.front().body[0];
  Rematerialised out;
  out.terms = terms.axis;
  out.sums = body.front().states.size();
  Dependence dependence(builder.kernel);
  AxisSet used;
  std::vector<KValueRef> rows;
  for (const Statement& s : std::span(terms.body).first(terms.body.size() - 1)) {
    if (s.kind != Statement::Kind::kReduce) return std::nullopt;
    used |= dependence.of_reduction(s.id);
    for (const ReduceState& state : s.states) {
      const std::vector<KValueRef> operands = loads_below(state.value);
      if (operands.size() != 2) return std::nullopt;
      const KernelAxis& along = builder.kernel.axes[out.terms];
      const bool first = depends_on(operands[0], along);
      if (first == depends_on(operands[1], along)) return std::nullopt;
      rows.push_back(operands[first ? 1 : 0]);
    }
  }
  if (rows.empty()) return std::nullopt;
  for (const int a : axes) {
    const KernelAxis& candidate = builder.kernel.axes[a];
    if (candidate.kind != AxisKind::kParallel) return std::nullopt;
    const auto moves = [&](const KValueRef& load) { return depends_on(load, candidate); };
    if (used[a] && std::ranges::all_of(rows, moves)) out.row = a;
  }
  if (out.row < 0) return std::nullopt;
  for (const int a : axes)
    if (a != out.row) (used[a] ? out.batch : out.own).push_back(a);
  for (const KValueRef& load : rows)
    if (!std::ranges::count(out.packed, load->buffer)) out.packed.push_back(load->buffer);
  return out;
}

class SimdAttentionGradient {
 public:
  SimdAttentionGradient(ScheduleBuilder& builder, int64_t lanes)
      : builder_(builder), lanes_(lanes) {}

  void run(const Rematerialised& found, int tiles) {
    const std::vector<int> around = nests(builder_.loop(tiles).body);
    const auto blocks = std::ranges::find_if(
        around, [&](int a) { return builder_.kernel.axes[a].kind == AxisKind::kOrdered; });
    for (const int a : around)
      if (a != *blocks)
        vectors_of(builder_, builder_.perfect_nest(builder_.loop(a)).back(), lanes_, 1);
    // Products, then the weights made of them, then the sums with own loops.
    const std::vector<int> inside = nests(builder_.loop(*blocks).body);
    const size_t factors = inside.size() - 1 - (found.own.empty() ? 0 : found.sums);
    for (size_t i = 0; i < factors; ++i) products(inside[i]);
    vectors_of(builder_, inside[factors], lanes_, 4);
    for (const int a : std::span(inside).subspan(factors + 1)) sums(a);
    for (const int buffer : found.packed) builder_.stage(buffer, tiles);
  }

 private:
  /// The largest power of two that divides the axis, up to a quarter of the registers over all
  /// states.
  int64_t tile(int axis, size_t states) const {
    const uint64_t registers = builder_.caps.vector_registers ? builder_.caps.vector_registers : 16;
    auto rows = floor_pow2(static_cast<int64_t>(registers / 4 / states));
    while (rows > 1 && !builder_.extent(axis).divisible_by(rows)) rows /= 2;
    return rows;
  }

  size_t states_in(int loop) { return builder_.loop(loop).body.front().states.size(); }

  void products(int row) {
    const int terms = builder_.perfect_nest(builder_.loop(row)).back();
    const size_t states = states_in(terms);
    vectors_of(builder_, row, lanes_, 2);
    builder_.unroll(builder_.split(terms, tile(terms, states)).second);
  }

  void sums(int row) {
    const int columns = builder_.perfect_nest(builder_.loop(row)).back();
    const size_t states = states_in(columns);
    const int panels = vectors_of(builder_, columns, lanes_, 2);
    const auto [tiles, copies] = builder_.split(row, tile(row, states));
    builder_.unroll(copies);
    if (panels != columns) builder_.reorder({panels, tiles});
  }

  ScheduleBuilder& builder_;
  int64_t lanes_;
};

bool schedule_gradient(ScheduleBuilder& builder, int axis) {
  const std::optional<Rematerialised> found = find_rematerialised(builder, axis);
  if (!found) return false;
  const int64_t lanes = builder.lanes(builder.loop(axis));
  if (lanes < 2 || builder.size(found->row) < lanes) return false;
  std::vector<int> order = found->batch;
  order.push_back(found->row);
  order.insert(order.end(), found->own.begin(), found->own.end());
  if (order.size() > 1) builder.reorder(order);
  const int64_t rows = block_of(builder.extent(found->row), kBlockRows, lanes);
  const int64_t terms = block_of(builder.extent(found->terms), kBlockTerms, 8);
  const int tiles = builder.split(found->row, rows).first;
  if (!builder.precompute(found->terms, terms, tiles)) return false;
  SimdAttentionGradient(builder, lanes).run(*found, tiles);
  bind_grid(builder, tiles, 1);
  if (!found->batch.empty()) bind_grid(builder, found->batch.front(), 1, Bind::kGridZ);
  return true;
}

}  // namespace

bool schedule_attention_gradient(ScheduleBuilder& builder, int axis) {
  return builder.attempt([axis](ScheduleBuilder& trial) { return schedule_gradient(trial, axis); });
}

}  // namespace tenon
