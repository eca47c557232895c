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

class LaunchDims {
 public:
  using Value = OpTree::Value;
  static constexpr std::array kAll{Bind::kGridX,  Bind::kGridY,  Bind::kGridZ,
                                   Bind::kBlockX, Bind::kBlockY, Bind::kBlockZ};
  static constexpr std::array kGrid{Bind::kGridX, Bind::kGridY, Bind::kGridZ};
  static constexpr std::array kBlock{Bind::kBlockX, Bind::kBlockY, Bind::kBlockZ};

  LaunchDims(const Kernel& kernel, KernelOps& ops);

  /// Number of workgroups or threads.
  const Expr& extent(Bind dim) const { return dims_[number(dim)].extent; }
  bool is_used(Bind dim) const { return dims_[number(dim)].used; }
  /// Axes of different extents are bound to it: some threads are out of range of the shorter ones.
  bool is_uneven(Bind dim) const { return dims_[number(dim)].uneven; }
  Value index(Bind dim);

  /// Number of sections; 0 if the kernel has none.
  size_t sections() const { return sections_.size(); }
  /// Emits code for the workgroups of one section, which are numbered from 0.
  void in_section(size_t section, const std::function<void()>& emit);
  /// The condition that a workgroup belongs to the section.
  Value is_of_section(size_t section);

  void open(Bind dim) { open_.push_back(dim); }
  void close() { open_.pop_back(); }
  bool is_open(Bind dim) const;
  /// Emits with the axes of threads closed.
  void without_threads(const std::function<void()>& emit);

  /// Subgroup size that the program requires; 0: any.
  uint32_t subgroup() const { return subgroup_; }
  /// True if a subgroup spans block.x and block.y.
  bool spans_rows() const { return spans_rows_; }
  void count_on_subgroup(uint32_t threads) { subgroup_ = threads; }

 private:
  struct Dim {
    bool used = false, uneven = false;
    Expr extent = 1;
  };
  static size_t number(Bind dim) {
    return static_cast<size_t>(dim) - static_cast<size_t>(Bind::kGridX);
  }

  using Dims = std::array<Dim, kAll.size()>;
  void add(const Statement& s, const Kernel& kernel);
  Value raw_index(Bind dim);

  KernelOps& ops_;
  Dims dims_;
  struct Section {
    int64_t begin = 0;  ///< its first workgroup along grid.x
    Dim grid_x;
    std::vector<Bind> unused;  ///< other grid dimensions, where it has the first workgroup only
  };
  std::vector<Section> sections_;
  int64_t begin_ = 0;  ///< of the current section
  std::vector<Bind> open_;
  uint32_t subgroup_ = 0;
  bool spans_rows_ = false;
};

}  // namespace tenon
