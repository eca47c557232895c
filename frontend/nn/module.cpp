// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/module.hpp"

#include <fmt/ranges.h>

#include <cctype>

#include "core/support/error.hpp"
#include "frontend/nn/names.hpp"
#include "tenon/gradient.hpp"

namespace tenon::nn {

Parameter::Parameter(std::vector<int64_t> shape, Initialiser initialiser, DType dtype)
    : Tensor(std::shared_ptr<State>()),
      declared(std::make_shared<const Declared>(
          Declared{std::move(shape), dtype, std::move(initialiser)})) {
  TN_REQUIRE(declared->initialiser, "[nn.parameter] expected an initialiser, got none");
  for (const int64_t size : declared->shape)
    TN_REQUIRE(size >= 0, "[nn.parameter] expected sizes of 0 and more, got [{}]",
               fmt::join(declared->shape, ", "));
}

Parameter::Parameter(Tensor value) : Tensor(std::move(value)) { redeclare(*this); }

Parameter& Parameter::operator=(const Tensor& value) {
  TN_REQUIRE(value.shape() == declared->shape && value.dtype() == declared->dtype,
             "[nn.parameter] expected a value of type {}[{}], got {}[{}]",
             dtype_name(declared->dtype), fmt::join(declared->shape, ", "),
             dtype_name(value.dtype()), fmt::join(value.shape(), ", "));
  Tensor::operator=(value);
  return *this;
}

void Parameter::redeclare(const Tensor& value) {
  declared = std::make_shared<const Declared>(Declared{value.shape(), value.dtype(),
                                                       declared ? declared->initialiser : nullptr,
                                                       declared ? declared->name : std::string()});
  Tensor::operator=(value);
}

void tell_names(const std::vector<Named>& tensors) {
  for (const auto& [name, tensor, parameter, is_learned] : tensors) {
    // A part of a model that is saved alone keeps the name in the whole.
    if (!parameter || parameter->declared->name.ends_with(name)) continue;
    Parameter::Declared declared = *parameter->declared;
    declared.name = name;
    parameter->declared = std::make_shared<const Parameter::Declared>(std::move(declared));
  }
}

void fields::initialise(const std::vector<Named>& tensors, const Key& key) {
  if (tensors.empty()) return;
  tell_names(tensors);
  const std::vector<Key> keys = key.split(static_cast<int64_t>(tensors.size()));
  std::vector<Tensor> values;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].parameter || !tensors[i].parameter->declared->initialiser) continue;
    Parameter& parameter = *tensors[i].parameter;
    parameter = parameter.declared->initialiser(keys[i], parameter.declared->shape)
                    .astype(parameter.declared->dtype);
    values.push_back(parameter);
  }
  realize(values);
}

namespace fields {

std::string next_name(std::string_view& names) {
  const size_t end = names.find(',');
  std::string_view name = names.substr(0, end);
  names = end == std::string_view::npos ? std::string_view() : names.substr(end + 1);
  while (!name.empty() && std::isspace(static_cast<unsigned char>(name.front())))
    name.remove_prefix(1);
  while (!name.empty() && std::isspace(static_cast<unsigned char>(name.back())))
    name.remove_suffix(1);
  return std::string(name);
}

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() || name.empty() ? prefix + name : prefix + "." + name;
}

LossAndGradients loss_and_gradients(const std::vector<Named>& learned,
                                    const std::function<Tensor(const std::vector<Tensor>&)>& loss) {
  TN_REQUIRE(!learned.empty(),
             "[nn.value_and_grad] expected a model with something to learn, got none: it has "
             "no parameters, or all are frozen");
  std::vector<Tensor> values;
  std::vector<std::string> names;
  for (const Named& named : learned) {
    values.push_back(*named.tensor);
    names.push_back(named.name);
  }
  ValueAndGrad found = tenon::value_and_grad(loss, std::move(names))(values);
  return {found.value, std::move(found.gradients)};
}

}  // namespace fields

}  // namespace tenon::nn
