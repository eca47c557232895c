// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer 3: kernels lowered with transforms of the case's own in place of the templates' choice.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "conformance/cases/case.hpp"
#include "core/compile/chooser.hpp"

namespace tenon::conformance::judge {

class TransformChoice : public TransformChooser {
 public:
  /// Of a case with written lists, a seed, or the templates' lists for a device of other sizes.
  explicit TransformChoice(const Case& test);
  explicit TransformChoice(uint64_t seed) : seed_(seed) {}

  static bool wanted(const Case& test) {
    return test.transform_seed || !test.transforms.empty() || !test.sizes.empty();
  }

  /// A random list that asks for more memory, threads or code than there is gives way to its first
  /// half, and at last to the templates. A written list is taken as it is, and kernels past the
  /// last one get none: what is not legal, or does not fit, throws and is noted in `refused`.
  LoweredKernel choose(const UnchosenKernel& kernel) override;
  CapabilitiesRef seen(const CapabilitiesRef& device) const override {
    return sizes_.empty() ? device : CapabilitiesRef(with_sizes(device, sizes_));
  }

  /// What was applied: one list a line, in the order of the schedule; "none" for an empty one.
  std::string text() const;
  std::string refused() const;  ///< why a written list could not be; "" if all could

 private:
  LoweredKernel choose_written(const UnchosenKernel& kernel);
  LoweredKernel choose_at_random(const UnchosenKernel& kernel, uint64_t seed);
  void keep(size_t number, const Chosen& chosen);

  std::optional<uint64_t> seed_;
  std::vector<std::string> written_;
  DeviceSizes sizes_;
  bool is_written_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> applied_;
  std::string refused_;
};

}  // namespace tenon::conformance::judge
