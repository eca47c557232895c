// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an application says of kernels by their names, in place of what the heuristics choose.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/compile/chooser.hpp"
#include "core/runtime/own_program.hpp"

namespace tenon {

class OwnKernels {
 public:
  /// For the kernel of that name, or with * at its end for those that begin so; in place of what
  /// was said of it before. Throws kInvalid for a name that no kernel can have, and for text that
  /// is no list, with its column.
  void set_transforms(const std::string& kernel, std::string_view transforms);
  /// The same with a program (docs/ir.md) for one kernel, launched in so many workgroups. Throws as
  /// parse_own_program.
  void set_program(const std::string& kernel, std::string_view program,
                   const std::array<int64_t, 3>& workgroups);
  /// Throws kInvalid if nothing was said of it.
  void reset(const std::string& kernel);

  bool empty() const { return entries_.empty(); }
  /// A line for each that no kernel has met, with some of the names that there were.
  std::vector<std::string> unmet() const;

 private:
  friend class OwnChooser;
  struct Entry {
    std::string kernel;
    WrittenTransforms transforms;
    std::shared_ptr<const OwnProgram> program;  ///< null: the transforms
    std::shared_ptr<std::atomic<bool>> met;
  };
  /// Names of kernels that were chosen for, the first of them; copies of an OwnKernels share them.
  struct Names {
    std::mutex mutex;
    std::set<std::string, std::less<>> known;
  };
  void add(Entry entry);
  const Entry* find(std::string_view name) const;

  std::vector<Entry> entries_;
  std::shared_ptr<Names> names_ = std::make_shared<Names>();
};

/// By what the application says of a kernel, else by heuristics.
class OwnChooser : public TransformChooser {
 public:
  explicit OwnChooser(const OwnKernels& own) : own_(own) {}
  /// Throws what is not legal for the kernel, with its name and its loops.
  LoweredKernel choose(const UnchosenKernel& kernel) override;
  bool tells_equal_kernels_apart() const override { return false; }
  std::shared_ptr<TransformChooser> for_later(std::string_view name) const override;
  std::shared_ptr<TransformChooser> with_smaller_tiles(std::string_view name,
                                                       size_t steps) const override;

 private:
  LoweredKernel choose_own(const UnchosenKernel& kernel, const OwnKernels::Entry& entry);

  const OwnKernels& own_;
  HeuristicChooser heuristics_;
};

}  // namespace tenon
