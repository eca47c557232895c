// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dimensions of a launch, grid.x to block.z: what the axes bound to them ask for, and which of
// them the walk has such an axis open in.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "core/kernel/tree/kernel.hpp"
#include "core/lower/kernel_ops.hpp"

namespace tenon {

class LaunchPlaces {
 public:
  using Value = OpTree::Value;
  static constexpr std::array kAll{Bind::kGridX,  Bind::kGridY,  Bind::kGridZ,
                                   Bind::kBlockX, Bind::kBlockY, Bind::kBlockZ};
  static constexpr std::array kGrid{Bind::kGridX, Bind::kGridY, Bind::kGridZ};
  static constexpr std::array kBlock{Bind::kBlockX, Bind::kBlockY, Bind::kBlockZ};

  LaunchPlaces(const Kernel& kernel, KernelOps& ops);

  /// Workgroups or threads.
  const Expr& extent(Bind place) const { return places_[number(place)].extent; }
  bool is_used(Bind place) const { return places_[number(place)].used; }
  /// Axes of several extents are bound to it, so that some threads are beyond the shorter ones.
  bool is_uneven(Bind place) const { return places_[number(place)].uneven; }
  Value index(Bind place);

  /// Sections of the kernel; 0 if it is one.
  size_t sections() const { return sections_.size(); }
  /// What `emit` emits is for the workgroups of a section alone, and numbers them from 0.
  void in_section(size_t section, const std::function<void()>& emit);
  /// Whether a workgroup is one of the section's.
  Value is_of_section(size_t section);

  void open(Bind place) { open_.push_back(place); }
  void close() { open_.pop_back(); }
  bool is_open(Bind place) const;
  /// As if no axis of a workgroup's threads were open.
  void without_threads(const std::function<void()>& emit);

  /// Threads of a subgroup that the program counts on; 0 if it does not.
  uint32_t subgroup() const { return subgroup_; }
  /// Whether its threads are along block.x and block.y.
  bool spans_rows() const { return spans_rows_; }
  void count_on_subgroup(uint32_t threads) { subgroup_ = threads; }

 private:
  struct Place {
    bool used = false, uneven = false;
    Expr extent = 1;
  };
  static size_t number(Bind place) {
    return static_cast<size_t>(place) - static_cast<size_t>(Bind::kGridX);
  }

  using Places = std::array<Place, kAll.size()>;
  void add(const Statement& s, const Kernel& kernel);
  Value raw_index(Bind place);

  KernelOps& ops_;
  Places places_;
  struct Section {
    int64_t begin = 0;  ///< its first workgroup along grid.x
    Place grid_x;
    std::vector<Bind> unused;  ///< of the grid's other places: it is the first there
  };
  std::vector<Section> sections_;
  int64_t begin_ = 0;  ///< of the section that is emitted
  std::vector<Bind> open_;
  uint32_t subgroup_ = 0;
  bool spans_rows_ = false;
};

}  // namespace tenon
