// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/positions.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tenon {

Positions::Positions(const Kernel& kernel)
    : kernel_(kernel), dependence_(kernel), positions_(kernel.axes.size()) {
  for (size_t i = 0; i < kernel.axes.size(); ++i)
    axis_of_[kernel.axes[i].name] = static_cast<int>(i);
}

int Positions::axis(const std::string& name) const {
  const auto found = axis_of_.find(name);
  return found == axis_of_.end() ? -1 : found->second;
}

void Positions::outside_loops(const std::function<bool(Bind)>& closes,
                              const std::function<void()>& emit) {
  const std::vector<Position> positions = positions_;
  const AxisSet loops = std::exchange(loops_, {});
  for (size_t a = 0; a < kernel_.axes.size(); ++a)
    if (loops[a] && closes(kernel_.axes[a].bind)) positions_[a] = {};
  emit();
  positions_ = positions;
  loops_ = loops;
}

void Positions::in_vector(int axis, const std::function<void()>& emit) {
  const auto before = std::pair(lane_axis_, lanes_);  // of a loop around a copy
  lane_axis_ = axis;
  lanes_ = static_cast<int>(kernel_.axes[axis].extent.value());
  positions_[axis] = {Position::Kind::kLane, 0, 0};
  emit();
  positions_[axis] = {};
  std::tie(lane_axis_, lanes_) = before;
}

void Positions::in_jam(std::span<const int> axes, const std::function<void()>& emit) {
  const size_t before = jam_.size();
  jam_.insert(jam_.end(), axes.begin(), axes.end());
  emit();
  jam_.resize(before);
}

uint64_t Positions::instance(const AxisSet& set) const {
  uint64_t number = 0;
  for (const int axis : jam_)
    if (set[axis])
      number = number * static_cast<uint64_t>(kernel_.axes[axis].extent.value()) +
               static_cast<uint64_t>(positions_[axis].constant);
  return number;
}

int Positions::count_instances(const AxisSet& set) const {
  int count = 1;
  for (const int axis : jam_)
    if (set[axis] && !pinned_[axis]) count *= static_cast<int>(kernel_.axes[axis].extent.value());
  return count;
}

void Positions::each_instance(const AxisSet& set, const std::function<void(int)>& emit) {
  std::vector<int> axes;
  for (const int axis : jam_)
    if (set[axis] && !pinned_[axis]) axes.push_back(axis);
  const int count = count_instances(set);
  for (int i = 0; i < count; ++i) {
    int rest = i;
    for (size_t k = axes.size(); k-- > 0;) {
      const auto extent = static_cast<int>(kernel_.axes[axes[k]].extent.value());
      put_constant(axes[k], rest % extent);
      rest /= extent;
    }
    emit(i);
  }
  for (const int axis : axes) close(axis);
}

void Positions::each_copy(const std::function<void()>& emit) {
  AxisSet open;
  for (const int axis : jam_) open.set(axis);
  open &= ~pinned_;
  const AxisSet before = pinned_;
  each_instance(open, [&](int) {
    pinned_ = before | open;
    emit();
    pinned_ = before;
  });
}

}  // namespace tenon
