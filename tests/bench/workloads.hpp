// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is measured beside PyTorch and tinygrad: a function of the tensor API, and the same as an
// expression of theirs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tenon/tensor.hpp"

namespace tenon::bench {

struct Workload {
  std::string name;           ///< "softmax/4096x1024": its group comes first
  DType dtype = DType::kF32;  ///< of the inputs; i8 are in [-8, 8), others in [-1, 1)
  std::vector<std::vector<int64_t>> shapes;  ///< of the inputs
  double work = 0;                           ///< operations, or bytes read and written
  bool moves = true;                         ///< work is bytes
  std::function<Tensor(const std::vector<Tensor>&)> ours;
  /// What ours reads, made of the inputs before anything is measured; none: the inputs.
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> prepare = {};
  std::string torch, tinygrad;  ///< expressions over x[0], ..; "" where there is none
  double tolerance = 1e-4;      ///< of the largest element, between the results
};

std::vector<Workload> workloads();

}  // namespace tenon::bench
