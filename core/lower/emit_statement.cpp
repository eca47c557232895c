// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements in order: stores, copies into tiles, axes of the launch, jams.
#include <algorithm>

#include "core/lower/emitter.hpp"
#include "core/lower/index_width.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr tn_axis kPlaces[] = {TN_AXIS_GRID_X,  TN_AXIS_GRID_Y,  TN_AXIS_GRID_Z,
                               TN_AXIS_BLOCK_X, TN_AXIS_BLOCK_Y, TN_AXIS_BLOCK_Z};

}  // namespace

Emitter::Emitter(const Kernel& kernel, const Capabilities& capabilities)
    : kernel_(kernel),
      capabilities_(capabilities),
      dependence_(kernel),
      index_(index_dtype(kernel, capabilities)),
      buffers_(kernel.buffers.size(), kNone),
      positions_(kernel.axes.size()),
      guard_off_(kernel.guards.size(), false),
      floor_(kernel.buffers.size(), 0) {
  for (size_t i = 0; i < kernel.axes.size(); ++i)
    axis_of_[kernel.axes[i].name] = static_cast<int>(i);
  for (const Let& let : kernel.lets) lets_[let.symbol] = let.value;
  for (const Guard& g : kernel.guards)
    guard_axes_.push_back(dependence_.of(g.lower) | dependence_.of(g.upper));
  for (const KernelBuffer& b : kernel.buffers)
    in_place_ |= b.read && b.written && b.space == BufferSpace::kGlobal;
  walk(kernel.body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kMatrix) {
      Place& threads = places_[static_cast<int>(Bind::kBlockX) - static_cast<int>(Bind::kGridX)];
      threads.extent = s.threads;
      threads.used = true;
      subgroup_ = static_cast<uint32_t>(s.threads);
    }
    if (s.kind != Statement::Kind::kLoop) return;
    const KernelAxis& axis = kernel.axes[s.axis];
    if (!is_grid(axis.bind) && !is_block(axis.bind)) return;
    Place& place = places_[static_cast<int>(axis.bind) - static_cast<int>(Bind::kGridX)];
    place.uneven |= place.used && !(place.extent == axis.extent);
    place.extent = place.used ? max(place.extent, axis.extent) : axis.extent;
    place.used = true;
  });
}

void Emitter::run() {
  push_memo();
  body(kernel_.body);
  pop_memo();
}

void Emitter::body(const std::vector<Statement>& statements) {
  for (size_t i = 0; i < statements.size();) {
    const Statement& s = statements[i];
    switch (s.kind) {
      case Statement::Kind::kStore: {
        size_t end = i;
        while (end < statements.size() && statements[end].kind == Statement::Kind::kStore) ++end;
        stores(std::span(statements).subspan(i, end - i));
        i = end;
        continue;
      }
      case Statement::Kind::kLoop:
        loop(s);
        break;
      case Statement::Kind::kReduce:
        reduce(s);
        break;
      case Statement::Kind::kStep:
        step();
        break;
      case Statement::Kind::kStage: {
        const auto shared = [&](const Statement& t) {
          return t.kind == Statement::Kind::kStage &&
                 kernel_.buffers[t.buffer].space == BufferSpace::kShared;
        };
        // Copies beside one another need one pair of barriers.
        const bool first = shared(s) && (i == 0 || !shared(statements[i - 1]));
        const bool last = shared(s) && (i + 1 == statements.size() || !shared(statements[i + 1]));
        if (first) tree_.effect(TN_OP_BARRIER, {}, TN_SCOPE_BLOCK);
        stage(s);
        if (last) tree_.effect(TN_OP_BARRIER, {}, TN_SCOPE_BLOCK);
        break;
      }
      case Statement::Kind::kMatrix:
        take_sums(s);
        break;
    }
    ++i;
  }
}

void Emitter::loop(const Statement& s) {
  around_.set(s.axis);
  run_loop(s);
  around_.reset(s.axis);
}

void Emitter::run_loop(const Statement& s) {
  const KernelAxis& axis = kernel_.axes[s.axis];
  switch (axis.bind) {
    case Bind::kLoop:
      serial_loop(s);
      return;
    case Bind::kUnroll:
      jam_.push_back(s.axis);
      body(s.body);
      jam_.pop_back();
      return;
    case Bind::kMatrix:
      positions_[s.axis] = {Position::Kind::kConstant, 0, 0};
      body(s.body);
      positions_[s.axis] = {};
      return;
    case Bind::kVector: {
      if (axis.extent.is_const(1)) {
        positions_[s.axis] = {Position::Kind::kConstant, 0, 0};
        body(s.body);
        positions_[s.axis] = {};
        return;
      }
      const auto before = std::pair(lane_axis_, lanes_);  // of a loop around a copy
      lane_forms_.clear();
      lane_axis_ = s.axis;
      lanes_ = static_cast<int>(axis.extent.value());
      positions_[s.axis] = {Position::Kind::kLane, 0, 0};
      body(s.body);
      positions_[s.axis] = {};
      lane_forms_.clear();
      std::tie(lane_axis_, lanes_) = before;
      return;
    }
    case Bind::kGridX:
    case Bind::kGridY:
    case Bind::kGridZ:
    case Bind::kBlockX:
    case Bind::kBlockY:
    case Bind::kBlockZ:
      launch_axis(s);
      return;
  }
}

Emitter::Value Emitter::launch_index(Bind bind) {
  const int place = static_cast<int>(bind) - static_cast<int>(Bind::kGridX);
  if (places_[place].used && places_[place].extent.is_const(1)) return index_constant(0);
  return tree_.pure(TN_OP_INDEX, static_cast<tn_dtype>(index_), 1, {}, kPlaces[place]);
}

void Emitter::launch_axis(const Statement& s) {
  const KernelAxis& axis = kernel_.axes[s.axis];
  const Place& place = places_[static_cast<int>(axis.bind) - static_cast<int>(Bind::kGridX)];
  const Value at = launch_index(axis.bind);
  positions_[s.axis] = {Position::Kind::kValue, at, 0};
  open_places_.push_back(axis.bind);
  const auto branch = [&](const Expr& bound, const std::function<void()>& then,
                          const std::function<void()>& other) {
    tree_.begin_if(op(TN_OP_CMPLT, DType::kBool, {at, integer(bound)}));
    push_memo();
    then();
    pop_memo();
    if (other) {
      tree_.begin_else();
      push_memo();
      other();
      pop_memo();
    }
    tree_.end_if();
  };
  const auto inside = [&] {
    const Peel p = peel(s.axis);
    if (!p.guards.empty() && p.full == axis.extent) {
      with_guards_off(p.guards, [&] { body(s.body); });
    } else if (p.guards.empty() || p.full.is_const(0) || is_block(axis.bind)) {
      body(s.body);  // threads of a workgroup stay together: there may be barriers
    } else {
      branch(
          p.full, [&] { with_guards_off(p.guards, [&] { body(s.body); }); },
          [&] { guarded([&] { body(s.body); }); });
    }
  };
  if (place.uneven)
    branch(axis.extent, inside, nullptr);
  else
    inside();
  open_places_.pop_back();
  positions_[s.axis] = {};
}

void Emitter::stores(std::span<const Statement> run) {
  // Every value comes before the first store: an output may overwrite what another one reads.
  if (in_place_) push_memo();
  std::vector<std::vector<Value>> values(run.size());
  std::vector<AxisSet> axes;
  for (size_t i = 0; i < run.size(); ++i) {
    axes.push_back(dependence_.of(run[i].index) | dependence_.of(run[i].mask));
    each_instance(axes[i], [&](int) { values[i].push_back(value(run[i].value)); });
  }
  for (size_t i = 0; i < run.size(); ++i)
    each_instance(axes[i], [&](int k) { store(run[i], values[i][k]); });
  if (in_place_) pop_memo();
}

void Emitter::store(const Statement& s, Value v) {
  Value mask = 0;
  const bool tile = kernel_.buffers[s.buffer].space != BufferSpace::kGlobal;
  bool masked = false;
  with_guards_off(filled_guards(s.buffer),
                  [&] { masked = access_mask(s.index, s.mask, around_, mask); });
  for (size_t p = 0; p < places_.size(); ++p) {
    const auto bind = static_cast<Bind>(p + static_cast<size_t>(Bind::kGridX));
    if (!places_[p].used || std::ranges::count(open_places_, bind)) continue;
    if (kernel_.buffers[s.buffer].space == BufferSpace::kScratch || (tile && is_grid(bind)))
      continue;
    const Value first = op(TN_OP_CMPLT, DType::kBool, {launch_index(bind), index_constant(1)});
    mask = masked ? both(mask, first) : first;
    masked = true;
  }
  int lanes = 1;
  bool contiguous = true;
  const Value to = buffer(s.buffer);
  const bool spread = masked && tree_.at(mask).lanes > 1;
  const Value index = access_index(s.index, spread, lanes, contiguous);
  TN_ASSERT(tree_.at(v).lanes <= lanes);
  std::vector<Value> operands{to, index, broadcast(v, lanes)};
  if (masked) operands.push_back(mask);
  uint32_t flags = access_flags(s.buffer, s.index, lanes, contiguous);
  if (flags & TN_OP_ALIGNED && !masked && streams(s.buffer, lanes)) flags |= TN_OP_STREAM;
  tree_.effect(TN_OP_STORE, operands, 0, flags);
}

std::vector<size_t> Emitter::filled_guards(int buffer) const {
  std::vector<size_t> guards;
  const KernelBuffer& b = kernel_.buffers[buffer];
  for (size_t g = 0; g < kernel_.guards.size(); ++g)
    if (kernel_.guards[g].fills && !guard_off_[g] && b.space != BufferSpace::kGlobal && !b.kept)
      guards.push_back(g);
  return guards;
}

bool Emitter::streams(int buffer, int lanes) const {
  const KernelBuffer& b = kernel_.buffers[buffer];
  const auto size = static_cast<int64_t>(dtype_size(b.dtype));
  const int64_t cache =
      capabilities_.l3_bytes ? static_cast<int64_t>(capabilities_.l3_bytes) / 2 : int64_t{16} << 20;
  return b.space == BufferSpace::kGlobal && !b.read && lanes * size == capabilities_.vector_bytes &&
         b.count.min() > cache / size;
}

void Emitter::stage(const Statement& s) {
  const bool shared = kernel_.buffers[s.buffer].space == BufferSpace::kShared;
  // The copy's own axes stand for the lanes around it and, where threads share it, for them too.
  const std::vector<Position> positions = positions_;
  const AxisSet around = std::exchange(around_, {});
  const std::vector<Bind> places = open_places_;
  for (size_t a = 0; a < kernel_.axes.size(); ++a) {
    const Bind bind = kernel_.axes[a].bind;
    if (around[a] && (bind == Bind::kVector || (shared && is_block(bind)))) positions_[a] = {};
  }
  if (shared) std::erase_if(open_places_, is_block);
  push_memo();
  body(s.body);
  pop_memo();
  positions_ = positions;
  around_ = around;
  open_places_ = places;
  floor_[s.buffer] = tree_.region();
  tree_.changed(buffer(s.buffer));
}

}  // namespace tenon
