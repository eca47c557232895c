// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a failing case small: outputs, nodes, inputs for subgraphs, sizes, values, until nothing
// smaller fails in the same way or the time is up.
#pragma once

#include <functional>

#include "conformance/cases/case.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance {

/// Does the candidate fail in the same way?
using StillFails = std::function<bool(const Case&)>;

struct ShrinkLimits {
  double seconds = 10;
  int probes = 2000;
};

Case shrink(Case failing, const StillFails& still_fails, Builder& builder,
            const ShrinkLimits& limits = {});

}  // namespace tenon::conformance
