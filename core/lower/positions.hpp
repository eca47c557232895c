// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The current position in a loop tree: each open axis is a value, a constant (one copy of an
// unrolled axis), or the lanes of a vector.
//
// A value is emitted once for each combination of the open unrolled axes (the jam) that it depends
// on: its instances, numbered with the innermost axis fastest.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/kernel/tree/kernel.hpp"
#include "core/lower/op_tree.hpp"

namespace tenon {

class Positions {
 public:
  using Value = OpTree::Value;
  struct Position {
    enum class Kind : uint8_t { kClosed, kValue, kConstant, kLane } kind = Kind::kClosed;
    Value value = 0;
    int64_t constant = 0;
    /// No single position: the axis is closed, or each lane has its own.
    bool is_spread() const { return kind == Kind::kClosed || kind == Kind::kLane; }
  };

  explicit Positions(const Kernel& kernel);

  // Dependence on axes
  const AxisSet& axes_of(const Expr& expr) { return dependence_.of(expr); }
  const AxisSet& axes_of(const KValueRef& value) { return dependence_.of(value); }
  const AxisSet& axes_of_reduction(int id) { return dependence_.of_reduction(id); }

  // Axes
  int axis(const std::string& name) const;  ///< -1 if no axis has the name
  const Position& at(int axis) const { return positions_[axis]; }
  void put_value(int axis, Value v) { positions_[axis] = {Position::Kind::kValue, v, 0}; }
  void put_constant(int axis, int64_t at) { positions_[axis] = {Position::Kind::kConstant, 0, at}; }
  void close(int axis) { positions_[axis] = {}; }

  // Loops
  void enter_loop(int axis) { loops_.set(axis); }
  void leave_loop(int axis) { loops_.reset(axis); }
  const AxisSet& loops() const { return loops_; }  ///< axes of open loops
  /// Emits something outside the open loops, with the axes that `closes` accepts closed.
  void outside_loops(const std::function<bool(Bind)>& closes, const std::function<void()>& emit);

  // Lanes
  void in_vector(int axis, const std::function<void()>& emit);
  int lane_axis() const { return lane_axis_; }  ///< -1: no vector is open
  int lanes() const { return lanes_; }
  bool in_lanes(const AxisSet& set) const { return lane_axis_ >= 0 && set[lane_axis_]; }

  // Instances
  void in_jam(std::span<const int> axes, const std::function<void()>& emit);
  const std::vector<int>& jam() const { return jam_; }  ///< outermost first
  /// Number of the current instance of a value that depends on these axes.
  uint64_t instance(const AxisSet& set) const;
  uint64_t instance(const KValueRef& value) { return jam_.empty() ? 0 : instance(axes_of(value)); }
  int count_instances(const AxisSet& set) const;
  void each_instance(const AxisSet& set, const std::function<void(int)>& emit);
  /// Emits once for each copy of the open unrolled axes.
  void each_copy(const std::function<void()>& emit);

 private:
  const Kernel& kernel_;
  Dependence dependence_;
  std::unordered_map<std::string, int> axis_of_;
  std::vector<Position> positions_;  ///< of each axis
  AxisSet loops_;
  std::vector<int> jam_;
  AxisSet pinned_;  ///< axes of the jam that are emitted one copy at a time
  int lane_axis_ = -1, lanes_ = 1;
};

}  // namespace tenon
