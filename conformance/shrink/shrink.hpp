// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a failing case small, until nothing smaller fails in the same way or the time is up: first
// by its choices, then by edits of the graph that no choice expresses, then its values.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "conformance/cases/case.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance::shrink {

/// The outcome of a candidate if it fails in the same way.
using Probe = std::function<std::optional<Outcome>(const Case&)>;

struct ShrinkLimits {
  double seconds = 10;
  int probes = 2000;
  /// Each failure costs much: only what makes large steps, which edits of choices do not.
  bool is_expensive = false;
};

struct Shrunk {
  Case test;
  std::string transform = {};  ///< layer 3: the first step that changes the result
};

/// A case of layer 3 must have failed in `outcome`, which says its transforms. Refusals and named
/// checks come back as they are.
Shrunk shrink(Case failing, const Outcome& outcome, const Probe& probe, Builder& builder,
              const ShrinkLimits& limits = {});

}  // namespace tenon::conformance::shrink
