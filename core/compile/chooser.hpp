// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interface that chooses a kernel's transforms: by templates, a written list, at random, or by
// search.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "core/ir/capabilities.hpp"
#include "core/kernel/transforms/transform.hpp"
#include "core/lower/lower.hpp"

namespace tenon {

/// A kernel before its transforms are chosen.
struct UnchosenKernel {
  const Kernel& tree;
  const Capabilities& capabilities;
  size_t number = 0;  ///< index in each_kernel's order
  /// Lowers a chosen tree; may be called several times. Throws kUnsupported for what the device
  /// cannot run. Does not check memory limits (see fits_memory).
  std::function<LoweredKernel(const Chosen&)> lower;
  std::string_view name = {};         ///< of its program; equal for equal kernels
  const Chosen* templates = nullptr;  ///< the choice of the templates, if it is known
};

class TransformChooser {
 public:
  virtual ~TransformChooser() = default;
  /// The lowered kernel of the choice. Called from several threads at once.
  virtual LoweredKernel choose(const UnchosenKernel& kernel) = 0;
  /// The capabilities that templates see. May differ from the device's in sizes, not in
  /// correctness.
  virtual CapabilitiesRef seen(const CapabilitiesRef& device) const { return device; }
  /// True if equal kernels may get different transforms.
  virtual bool tells_equal_kernels_apart() const { return true; }
  /// A chooser like this that may outlive it, for kernels that are specialised at launch; null if
  /// the kernel of that name is compiled once for all sizes.
  virtual std::shared_ptr<TransformChooser> for_later(std::string_view) const { return nullptr; }
  /// A chooser with tiles that are so many steps smaller, for kernels that spill registers; null if
  /// the kernel of that name must not change.
  virtual std::shared_ptr<TransformChooser> with_smaller_tiles(std::string_view, size_t) const {
    return nullptr;
  }
};

/// True if the kernel writes narrow elements packed in words and the device has no atomics: then
/// one thread must run the launch.
bool needs_one_thread(const Kernel& kernel, const Capabilities& capabilities);

/// Chooses by core/kernel/templates.
class TemplateChooser : public TransformChooser {
 public:
  /// `smaller`: steps by which register tiles are smaller than the default.
  explicit TemplateChooser(size_t smaller = 0) : smaller_(smaller) {}
  LoweredKernel choose(const UnchosenKernel& kernel) override;
  bool tells_equal_kernels_apart() const override { return false; }
  std::shared_ptr<TransformChooser> for_later(std::string_view) const override {
    return std::make_shared<TemplateChooser>(smaller_);
  }
  std::shared_ptr<TransformChooser> with_smaller_tiles(std::string_view,
                                                       size_t steps) const override {
    return std::make_shared<TemplateChooser>(smaller_ + steps);
  }

 private:
  size_t smaller_;
};

/// Applies one list to every kernel. Throws the refusal of a transform that is not legal.
class WrittenChooser : public TransformChooser {
 public:
  explicit WrittenChooser(WrittenTransforms list = {}) : list_(std::move(list)) {}
  LoweredKernel choose(const UnchosenKernel& kernel) override;

 private:
  WrittenTransforms list_;
};

}  // namespace tenon
