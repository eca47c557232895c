// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dimensions of a launch, grid.x to block.z: their extents, from the axes bound to them, and
// which of them have an open axis at the current position.
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

  /// Number of workgroups or threads.
  const Expr& extent(Bind place) const { return places_[number(place)].extent; }
  bool is_used(Bind place) const { return places_[number(place)].used; }
  /// Axes of different extents are bound to it: some threads are out of range of the shorter ones.
  bool is_uneven(Bind place) const { return places_[number(place)].uneven; }
  Value index(Bind place);

  /// Number of sections; 0 if the kernel has none.
  size_t sections() const { return sections_.size(); }
  /// Emits code for the workgroups of one section, which are numbered from 0.
  void in_section(size_t section, const std::function<void()>& emit);
  /// The condition that a workgroup belongs to the section.
  Value is_of_section(size_t section);

  void open(Bind place) { open_.push_back(place); }
  void close() { open_.pop_back(); }
  bool is_open(Bind place) const;
  /// Emits with the axes of threads closed.
  void without_threads(const std::function<void()>& emit);

  /// Subgroup size that the program requires; 0: any.
  uint32_t subgroup() const { return subgroup_; }
  /// True if a subgroup spans block.x and block.y.
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
    std::vector<Bind> unused;  ///< other grid dimensions, where it has the first workgroup only
  };
  std::vector<Section> sections_;
  int64_t begin_ = 0;  ///< of the current section
  std::vector<Bind> open_;
  uint32_t subgroup_ = 0;
  bool spans_rows_ = false;
};

}  // namespace tenon
