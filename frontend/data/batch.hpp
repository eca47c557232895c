// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One batch: examples in an order, stacked.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tenon/data/dataset.hpp"

namespace tenon::data {

/// The examples at `indices`, each with the random numbers of (seed, epoch, index), stacked along a
/// new first axis. Empty if `is_stopped` says so before the end. Throws Error naming the example.
std::vector<Array> make_batch(const Dataset& dataset, std::span<const int64_t> indices,
                              uint64_t seed, uint64_t epoch,
                              const std::function<bool()>& is_stopped);

}  // namespace tenon::data
