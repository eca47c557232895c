// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole models that are measured beside PyTorch's: those of the examples 20 to 23 in steps of
// training, and GPT-2, which answers. peers/models.py has the same.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tenon/tensor.hpp"

namespace tenon::bench {

struct ModelWorkload {
  std::string name;  ///< "lstm step", of peers/models.py too
  /// Makes a model, writes its tensors and inputs to a safetensors file for the peers, and gives
  /// what is measured: a step, which gives its loss, or an answer.
  std::function<std::function<Tensor()>(Context& context, const std::string& file)> start;
  int checked_calls = 1;  ///< whose results are held against the peers'
  double read_bytes = 0;  ///< of one call, where reading is what limits it
};

std::vector<ModelWorkload> model_workloads();

}  // namespace tenon::bench
