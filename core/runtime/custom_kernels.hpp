// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transforms and programs that an application sets for kernels by name. They replace what the
// templates choose.
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
#include "core/runtime/custom_program.hpp"

namespace tenon {

class CustomKernels {
 public:
  /// Sets the transforms of the kernel of that name; a name that ends with * is a prefix. Replaces
  /// an earlier setting. Throws kInvalid for a name that no kernel can have, and with the column
  /// for text that is not a list of transforms.
  void set_transforms(const std::string& kernel, std::string_view transforms);
  /// Sets the program (docs/ir.md) of one kernel and its number of workgroups. Throws as
  /// parse_custom_program does.
  void set_program(const std::string& kernel, std::string_view program,
                   const std::array<int64_t, 3>& workgroups);
  /// Removes a setting. Throws kInvalid if there is none for that name.
  void reset(const std::string& kernel);

  bool empty() const { return entries_.empty(); }
  /// One line for each setting that no kernel has matched, with some names of kernels that there
  /// were.
  std::vector<std::string> unmatched() const;

 private:
  friend class CustomChooser;
  struct Entry {
    std::string kernel;
    WrittenTransforms transforms;
    std::shared_ptr<const CustomProgram> program;  ///< null: the transforms
    std::shared_ptr<std::atomic<bool>> matched;
  };
  /// The first names of kernels seen by a chooser. Copies of a CustomKernels share them.
  struct Names {
    std::mutex mutex;
    std::set<std::string, std::less<>> known;
  };
  void add(Entry entry);
  const Entry* find(std::string_view name) const;

  std::vector<Entry> entries_;
  std::shared_ptr<Names> names_ = std::make_shared<Names>();
};

/// Chooses what the application set for a kernel, else what the templates choose.
class CustomChooser : public TransformChooser {
 public:
  explicit CustomChooser(const CustomKernels& own) : custom_(own) {}
  /// Throws, with the name and the loops of the kernel, if a setting is not legal for it.
  LoweredKernel choose(const UnchosenKernel& kernel) override;
  bool tells_equal_kernels_apart() const override { return false; }
  std::shared_ptr<TransformChooser> for_later(std::string_view name) const override;
  std::shared_ptr<TransformChooser> with_smaller_tiles(std::string_view name,
                                                       size_t steps) const override;

 private:
  LoweredKernel choose_custom(const UnchosenKernel& kernel, const CustomKernels::Entry& entry);

  const CustomKernels& custom_;
  TemplateChooser templates_;
};

}  // namespace tenon
