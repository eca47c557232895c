// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is measured beside PyTorch and tinygrad: a function of the tensor API, and the same as an
// expression of theirs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tenon/tensor.hpp"

namespace tenon::bench {

/// What a rate is held against.
enum class Bound : uint8_t { kArithmetic, kCopy, kRead };

/// What a workload gives: a tensor, or several, which are compared one after another.
struct Results {
  std::vector<Tensor> all;
  Results(Tensor x) : all{std::move(x)} {}               // NOLINT(google-explicit-constructor)
  Results(std::vector<Tensor> x) : all(std::move(x)) {}  // NOLINT(google-explicit-constructor)
};

struct Workload {
  std::string name;           ///< "softmax/4096x1024": its group comes first
  DType dtype = DType::kF32;  ///< of the inputs; i8 are in [-8, 8), others in [-1, 1)
  std::vector<std::vector<int64_t>> shapes;  ///< of the inputs
  double work = 0;  ///< operations (kArithmetic), or bytes that are read and written
  Bound bound = Bound::kCopy;
  bool is_sgemm = false;  ///< x[0] @ x[1] in f32, and nothing else: libraries in C have it
  std::function<Results(const std::vector<Tensor>&)> ours;
  /// What ours reads, made of the inputs before anything is measured; none: the inputs.
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> prepare = {};
  /// Expressions over x[0], ..; "" where there is none. `onednn`: PyTorch's own call of oneDNN,
  /// where PyTorch would ask another library.
  std::string torch, tinygrad, onednn;
  double tolerance = 1e-4;  ///< of the largest element, between the results
};

std::vector<Workload> workloads();

}  // namespace tenon::bench
