// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who chooses the transforms of a kernel: heuristics, a written list, a random one, a search.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "core/ir/capabilities.hpp"
#include "core/kernel/transforms/transform.hpp"
#include "core/lower/lower.hpp"

namespace tenon {

/// A kernel whose transforms are still to be chosen.
struct UnchosenKernel {
  const Kernel& tree;
  const Capabilities& capabilities;
  size_t number = 0;  ///< among the kernels of its schedule, as each_kernel counts them
  /// The tree that is chosen is the tree that is lowered. May be called again for a better one.
  /// Throws kUnsupported for what the device cannot run; of memory it says nothing (fits_memory).
  std::function<LoweredKernel(const Chosen&)> lower;
  std::string_view name = {};         ///< its program's: equal for equal kernels
  const Chosen* templates = nullptr;  ///< what the templates chose already; null: not asked yet
};

class TransformChooser {
 public:
  virtual ~TransformChooser() = default;
  /// What `lower` made of the choice. Called from several threads at once.
  virtual LoweredKernel choose(const UnchosenKernel& kernel) = 0;
  /// What rules take the device for, where that makes no difference to what is right: its sizes.
  virtual CapabilitiesRef seen(const CapabilitiesRef& device) const { return device; }
  /// Whether kernels that are equal may be given different transforms.
  virtual bool tells_equal_kernels_apart() const { return true; }
  /// One that chooses as this does and may outlive it, for kernels whose sizes a launch tells; null
  /// if the kernel of that name is to be one for all sizes.
  virtual std::shared_ptr<TransformChooser> for_later(std::string_view) const { return nullptr; }
  /// One that takes tiles smaller by so many steps, as what spills wants; null if the kernel of
  /// that name is to be as it is.
  virtual std::shared_ptr<TransformChooser> with_smaller_tiles(std::string_view, size_t) const {
    return nullptr;
  }
};

/// Words that hold several elements are written without atomics by one thread alone: then no
/// transform that brings more of them is right.
bool needs_one_thread(const Kernel& kernel, const Capabilities& capabilities);

/// What suits the device, by core/kernel/heuristics.
class HeuristicChooser : public TransformChooser {
 public:
  /// With tiles of registers that are so many steps smaller than the rules take.
  explicit HeuristicChooser(size_t smaller = 0) : smaller_(smaller) {}
  LoweredKernel choose(const UnchosenKernel& kernel) override;
  bool tells_equal_kernels_apart() const override { return false; }
  std::shared_ptr<TransformChooser> for_later(std::string_view) const override {
    return std::make_shared<HeuristicChooser>(smaller_);
  }
  std::shared_ptr<TransformChooser> with_smaller_tiles(std::string_view,
                                                       size_t steps) const override {
    return std::make_shared<HeuristicChooser>(smaller_ + steps);
  }

 private:
  size_t smaller_;
};

/// The same list for each kernel; none if it is empty. Throws what is not legal.
class WrittenChooser : public TransformChooser {
 public:
  explicit WrittenChooser(WrittenTransforms list = {}) : list_(std::move(list)) {}
  LoweredKernel choose(const UnchosenKernel& kernel) override;

 private:
  WrittenTransforms list_;
};

}  // namespace tenon
