// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of fusion: may a node be computed inside the kernels that want it?
#pragma once

#include <vector>

#include "core/schedule/cut.hpp"

namespace tenon::scheduling {

constexpr size_t kMostKnownDemands = 32;  // a node with more of them gets a buffer
constexpr int kMostNodes = 512;           // of one kernel: compile time stays in proportion
constexpr int kMostReductions = 8;        // each is a loop, which rules make up to six axes of
constexpr int kMostSplits = 64;           // on the way to an element: else it is put where it goes
constexpr int kMostViews = 512;
// Elements. One row kernel over few rows as long as this leaves cores idle.
constexpr double kLongRow = 65536;

/// Kernel number `kernel` evaluates a node at `map`.
struct Demand {
  int kernel = 0;
  IndexMap map;
  bool operator==(const Demand&) const = default;
};

/// The variables of all loops that must run to fix these.
uint64_t closure(const CutKernel& kernel, uint64_t variables);
/// How many values they take together.
double product(const CutKernel& kernel, uint64_t variables);

bool may_inline(const SchedulerInput& input, const std::vector<CutKernel>& kernels, int i,
                const std::vector<Demand>& demands);

}  // namespace tenon::scheduling
