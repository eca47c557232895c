// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model from text as a module that learns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/ir/text/model.hpp"
#include "tenon/context.hpp"
#include "tenon/nn/module.hpp"
#include "tenon/nn/optimizers/optimizer.hpp"

namespace tenon::cli {

/// The parameters of a model, under its names.
struct Learner {
  explicit Learner(const Model& model);
  std::vector<nn::Parameter> parameters;
  TENON_FIELDS(parameters)
  std::string name_of(const std::string& field) const;
  std::shared_ptr<const std::vector<std::string>> names;
};

/// The outputs of a graph of this context on the inputs and then the parameters.
std::vector<Tensor> outputs_of(const Graph& graph, const std::vector<Tensor>& inputs,
                               const Learner& learner);

struct OptimizerOptions {
  std::string name = "adamw", schedule = "constant";
  double rate = 0;  ///< 0: that of the optimizer
  int64_t warmup = 0;
};
/// Names that make_optimizer takes.
std::vector<std::string> optimizer_names();
nn::Optimizer make_optimizer(const OptimizerOptions& options, int64_t steps);

}  // namespace tenon::cli
