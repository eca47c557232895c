// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which cases of a plan a run takes: those of some layers, and of what --only names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/plan.hpp"

namespace tenon::conformance {

class Selection {
 public:
  Selection() = default;  ///< all of them
  /// `layers`: of kLayerNames. `only`: checks (atomics), ops of cells (add, cast.i8), families of
  /// patterns and their patterns (idioms). Empty: all. Throws kInvalid with the names that there
  /// are.
  Selection(std::span<const std::string> layers, std::span<const std::string> only);

  bool is_all() const { return layers_ == UINT32_MAX && only_.empty(); }
  bool is_named() const { return !only_.empty(); }
  bool wants(const Plan& plan) const;
  /// Leaves out the layers that are not named; false if none is left.
  bool keep(std::span<const std::string_view> layers);
  std::string layers_text() const;  ///< "all", "cells,graphs"
  std::string only_text() const;    ///< "", "add,atomics"

 private:
  void add(const std::string& name);

  uint32_t layers_ = UINT32_MAX;  ///< bit i: layer i of kLayerNames
  std::vector<std::string> only_;
  // By TemplateSpec::number; empty without names.
  std::vector<bool> cells_, checks_, patterns_;
};

}  // namespace tenon::conformance
