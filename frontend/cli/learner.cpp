// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/cli/learner.hpp"

#include <algorithm>
#include <map>

#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/nn/initialisers.hpp"
#include "tenon/nn/optimizers/optimizers.hpp"

namespace tenon::cli {
namespace {

nn::Initialiser initialiser_of(const Initialiser& initial) {
  switch (initial.kind) {
    case Initialiser::Kind::kConstant:
      return nn::constant(initial.number);
    case Initialiser::Kind::kUniform:
      return nn::uniform(-initial.number, initial.number);
    case Initialiser::Kind::kNormal:
      return nn::normal(0, initial.number);
  }
  TN_ASSERT(false);
}

struct Known {
  double rate;
  nn::Optimizer (*make)(const nn::Rate& rate);
};

const std::map<std::string, Known>& known_optimizers() {
  static const std::map<std::string, Known> known = {
      {"adafactor", {1e-2, [](const nn::Rate& r) { return nn::adafactor({.learning_rate = r}); }}},
      {"adagrad", {1e-2, [](const nn::Rate& r) { return nn::adagrad({.learning_rate = r}); }}},
      {"adam", {1e-3, [](const nn::Rate& r) { return nn::adam({.learning_rate = r}); }}},
      {"adamw", {1e-3, [](const nn::Rate& r) { return nn::adamw({.learning_rate = r}); }}},
      {"lamb", {1e-3, [](const nn::Rate& r) { return nn::lamb({.learning_rate = r}); }}},
      {"lion", {1e-4, [](const nn::Rate& r) { return nn::lion({.learning_rate = r}); }}},
      {"momentum",
       {1e-2, [](const nn::Rate& r) { return nn::sgd({.learning_rate = r, .momentum = 0.9}); }}},
      {"muon", {0.02, [](const nn::Rate& r) { return nn::muon({.learning_rate = r}); }}},
      {"rmsprop", {1e-2, [](const nn::Rate& r) { return nn::rmsprop({.learning_rate = r}); }}},
      {"sgd", {1e-2, [](const nn::Rate& r) { return nn::sgd({.learning_rate = r}); }}},
  };
  return known;
}

}  // namespace

Learner::Learner(const Model& model) {
  std::vector<std::string> list;
  for (const ModelParameter& p : model.parameters) {
    parameters.emplace_back(p.shape, initialiser_of(p.initial), p.dtype);
    list.push_back(p.name);
  }
  names = std::make_shared<const std::vector<std::string>>(std::move(list));
}

std::string Learner::name_of(const std::string& field) const {
  return names->at(std::stoul(field.substr(field.find('.') + 1)));
}

std::vector<Tensor> outputs_of(const Graph& graph, const std::vector<Tensor>& inputs,
                               const Learner& learner) {
  std::vector<Tensor> given = inputs;
  given.insert(given.end(), learner.parameters.begin(), learner.parameters.end());
  Context& context = given.at(0).context();
  std::vector<Tensor> out;
  for (const NodeRef& node : apply(graph, nodes_in(context, given), builder_of(context)))
    out.push_back(make_tensor(context, node));
  return out;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const auto& [name, known] : known_optimizers()) names.push_back(name);
  return names;
}

nn::Optimizer make_optimizer(const OptimizerOptions& options, int64_t steps) {
  const Known& known = known_optimizers().at(options.name);
  const double rate = options.rate > 0 ? options.rate : known.rate;
  TN_REQUIRE(options.schedule == "cosine" || options.warmup == 0,
             "[--warmup] expected --schedule cosine, got {}", options.schedule);
  TN_REQUIRE(options.warmup < steps || options.warmup == 0,
             "[--warmup] expected fewer than the {} steps, got {}", steps, options.warmup);
  if (options.schedule == "cosine")
    return known.make(nn::warmup_cosine(rate, options.warmup, steps));
  if (options.schedule == "linear") return known.make(nn::linear(rate, 0, steps));
  return known.make(rate);
}

}  // namespace tenon::cli
