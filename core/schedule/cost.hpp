// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost model of fusion: whether to inline a node into the kernels that read it.
#pragma once

#include <vector>

#include "core/schedule/cut.hpp"

namespace tenon::scheduling {

constexpr size_t kMostKnownDemands = 32;  // a node with more is materialised
constexpr int kMostNodes = 512;           // of one kernel: compile time stays in proportion
constexpr int kMostReductions = 8;        // each is a loop, which transforms split into up to six
constexpr int kMostSplits = 64;  // divisions on the way to an element, before materialising
constexpr int kMostViews = 512;  // views on the way to an element, before materialising
// Elements. A kernel over few rows of this length leaves cores idle.
constexpr double kLongRow = 65536;

/// A read of a node by kernel number `kernel`, at index `map`.
struct Demand {
  int kernel = 0;
  IndexMap map;
  bool operator==(const Demand&) const = default;
};

/// `variables` and the variables of all loops around theirs, as bits.
uint64_t closure(const CutKernel& kernel, uint64_t variables);
/// Product of the extents of `variables`: their iterations together.
double product(const CutKernel& kernel, uint64_t variables);

/// True if computing node i at each of `demands` costs no more than materialising it.
bool may_inline(const SchedulerInput& input, const std::vector<CutKernel>& kernels, int i,
                const std::vector<Demand>& demands);

}  // namespace tenon::scheduling
