// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/summary.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tenon/cost.hpp"

namespace tenon::nn::fields {
namespace {

struct Layer {
  std::string name, shapes;
  int64_t learned = 0;
  std::vector<Tensor> tensors;
};

std::vector<Layer> layers_of(const std::vector<Named>& tensors) {
  std::vector<Layer> layers;
  for (const Named& named : tensors) {
    const size_t dot = named.name.rfind('.');
    const std::string layer = dot == std::string::npos ? "" : named.name.substr(0, dot);
    if (layers.empty() || layers.back().name != layer) layers.push_back({layer, "", 0, {}});
    Layer& own = layers.back();
    own.shapes += fmt::format("{}{} [{}]", own.shapes.empty() ? "" : ", ",
                              named.name.substr(layer.empty() ? 0 : dot + 1),
                              fmt::join(named.tensor->shape(), ", "));
    if (named.is_learned && !named.parameter->frozen) own.learned += named.tensor->size();
    own.tensors.push_back(*named.tensor);
  }
  return layers;
}

/// "1,234,567"
std::string grouped(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

}  // namespace

std::string summary(const std::vector<Named>& tensors, const std::function<Tensor()>& forward) {
  std::vector<Tensor> all;
  for (const Named& named : tensors) all.push_back(*named.tensor);
  realize(all);  // what they are made of is not the model's work
  const std::vector<Layer> layers = layers_of(tensors);
  std::vector<std::vector<Tensor>> groups;
  for (const Layer& layer : layers) groups.push_back(layer.tensors);
  const Cost cost = tenon::cost(forward(), groups);
  using Row = std::array<std::string, 4>;
  std::vector<Row> rows{{"layer", "shapes", "learned", "operations"}};
  int64_t learned = 0;
  double flops = cost.flops.back();
  for (size_t i = 0; i < layers.size(); ++i) {
    rows.push_back({layers[i].name, layers[i].shapes,
                    grouped(static_cast<double>(layers[i].learned)), grouped(cost.flops[i])});
    learned += layers[i].learned;
    flops += cost.flops[i];
  }
  if (cost.flops.back() > 0) rows.push_back({"(no layer)", "", "", grouped(cost.flops.back())});
  rows.push_back({"all", fmt::format("{} kernels", cost.kernels),
                  grouped(static_cast<double>(learned)), grouped(flops)});
  std::array<size_t, 4> width{};
  for (const Row& row : rows)
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string out;
  for (const Row& row : rows)
    out += fmt::format("{:<{}}  {:<{}}  {:>{}}  {:>{}}\n", row[0], width[0], row[1], width[1],
                       row[2], width[2], row[3], width[3]);
  return out;
}

}  // namespace tenon::nn::fields
