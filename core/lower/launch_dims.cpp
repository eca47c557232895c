// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/launch_dims.hpp"

#include <algorithm>
#include <utility>

namespace tenon {
namespace {

constexpr tn_axis kAxes[] = {TN_AXIS_GRID_X,  TN_AXIS_GRID_Y,  TN_AXIS_GRID_Z,
                             TN_AXIS_BLOCK_X, TN_AXIS_BLOCK_Y, TN_AXIS_BLOCK_Z};

}  // namespace

LaunchDims::LaunchDims(const Kernel& kernel, KernelOps& ops) : ops_(ops) {
  Dim& grid_x = dims_[number(Bind::kGridX)];
  int64_t begin = 0;
  for (const std::span<const Statement> section : sections_of(kernel)) {
    std::vector<Bind> bound;
    const auto see = [&](const Statement& s) {
      add(s, kernel);
      if (s.kind == Statement::Kind::kLoop) bound.push_back(kernel.axes[s.axis].bind);
    };
    grid_x = {};
    for (const Statement& s : section) {
      see(s);
      walk(s.body, see);
    }
    if (kernel.sections.empty()) return;
    Section own{begin, grid_x, {}};
    for (const Bind dim : {Bind::kGridY, Bind::kGridZ})
      if (!std::ranges::count(bound, dim)) own.unused.push_back(dim);
    sections_.push_back(std::move(own));
    begin += grid_x.extent.value();
  }
  grid_x = {.used = true, .uneven = true, .extent = begin};
}

void LaunchDims::add(const Statement& s, const Kernel& kernel) {
  if (s.kind == Statement::Kind::kMatrix) {
    const auto use = [&](Bind dim, int64_t threads) {
      dims_[number(dim)].extent = threads;
      dims_[number(dim)].used = true;
    };
    use(Bind::kBlockX, s.across);
    if (s.across < s.threads) use(Bind::kBlockY, s.threads / s.across);
    spans_rows_ = s.across < s.threads;
    subgroup_ = static_cast<uint32_t>(s.threads);
  }
  if (s.kind != Statement::Kind::kLoop) return;
  const KernelAxis& axis = kernel.axes[s.axis];
  if (!is_grid(axis.bind) && !is_block(axis.bind)) return;
  Dim& dim = dims_[number(axis.bind)];
  dim.uneven |= dim.used && !(dim.extent == axis.extent);
  dim.extent = dim.used ? max(dim.extent, axis.extent) : axis.extent;
  dim.used = true;
}

void LaunchDims::in_section(size_t section, const std::function<void()>& emit) {
  Dim& grid_x = dims_[number(Bind::kGridX)];
  const Dim whole = std::exchange(grid_x, sections_[section].grid_x);
  begin_ = sections_[section].begin;
  for (const Bind dim : sections_[section].unused) open(dim);
  emit();
  for (size_t i = 0; i < sections_[section].unused.size(); ++i) close();
  begin_ = 0;
  grid_x = whole;
}

LaunchDims::Value LaunchDims::is_of_section(size_t section) {
  const Section& own = sections_[section];
  const Value at = raw_index(Bind::kGridX);
  const auto less = [&](Value a, Value b) { return ops_.op(TN_OP_CMPLT, DType::kBool, {a, b}); };
  std::vector<Value> all;
  if (own.begin > 0) all.push_back(less(ops_.index_constant(own.begin - 1), at));
  if (section + 1 < sections_.size() || own.begin == 0)
    all.push_back(less(at, ops_.index_constant(own.begin + own.grid_x.extent.value())));
  for (const Bind dim : own.unused)
    if (is_used(dim) && !extent(dim).is_const(1))
      all.push_back(less(raw_index(dim), ops_.index_constant(1)));
  Value whole = all.front();
  for (size_t i = 1; i < all.size(); ++i) whole = ops_.both(whole, all[i]);
  return whole;
}

LaunchDims::Value LaunchDims::index(Bind dim) {
  if (is_used(dim) && extent(dim).is_const(1)) return ops_.index_constant(0);
  const Value raw = raw_index(dim);
  return dim == Bind::kGridX && begin_ > 0 ? ops_.add(raw, ops_.index_constant(-begin_)) : raw;
}

LaunchDims::Value LaunchDims::raw_index(Bind dim) {
  return ops_.tree().pure(TN_OP_INDEX, static_cast<tn_dtype>(ops_.index_dtype()), 1, {},
                          kAxes[number(dim)]);
}

bool LaunchDims::is_open(Bind dim) const { return std::ranges::count(open_, dim) > 0; }

void LaunchDims::without_threads(const std::function<void()>& emit) {
  const std::vector<Bind> before = open_;
  std::erase_if(open_, is_block);
  emit();
  open_ = before;
}

}  // namespace tenon
