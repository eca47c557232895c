// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a loop takes its batches from.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tenon/data/loader.hpp"
#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon::train {

/// `next` gives the tensors of a batch. What has no position, as batches that a loss draws from its
/// key, is the same wherever a loop begins.
struct TENON_API Batches {
  std::function<std::vector<Tensor>()> next;
  std::function<data::Position()> position = {};         ///< of what next() gives
  std::function<void(const data::Position&)> seek = {};  ///< goes there
  int64_t in_epoch = 0;                                  ///< 0: there are no epochs

  Batches(std::function<std::vector<Tensor>()> next);  // NOLINT: a function is a source
  /// The loader must live as long.
  Batches(data::Loader& loader);  // NOLINT
  /// The same at each step.
  Batches(std::vector<Tensor> tensors);  // NOLINT
};

}  // namespace tenon::train
