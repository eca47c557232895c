// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules: plain structs of parameters, tensors, options and other modules, with one list of their
// fields.
//
//   struct Mlp {
//     nn::Linear fc1{784, 128}, fc2{128, 10};
//     TENON_MODULE(Mlp, fc1, fc2)
//     Tensor operator()(const Tensor& x) const { return fc2(fc1(x).relu()); }
//   };
//   Mlp model(Key(42));
//
// What is made with a key has values: a model, and a layer alone, nn::Linear(784, 10, Key(1)). A
// layer without one only declares, and stands in a module, which gives it values.
//
// There is no base class and nothing is registered: a module is copied, returned and passed to what
// `compile` makes like any struct. The list gives each tensor its name: "fc1.weight"; elements of
// vectors, arrays and tuples are numbered: "blocks.0.fc1.weight". A Parameter is learned; a Buffer,
// or any Tensor, is kept with the model and not learned; integers, bools, enums and Fixed are
// options, by which traced functions are told apart.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tenon/compile.hpp"
#include "tenon/export.hpp"
#include "tenon/random.hpp"
#include "tenon/tensor.hpp"

/// The fields of a module, in order: for the names of tensors, and for `compile`.
#define TENON_FIELDS(...)                         \
  auto fields() { return std::tie(__VA_ARGS__); } \
  static constexpr std::string_view field_names() { return #__VA_ARGS__; }

/// The same of a struct that is made with a key: each parameter and buffer gets values by its own
/// initialiser, from a key of its own and in its context; all are computed in one go.
#define TENON_MODULE(Name, ...) \
  TENON_FIELDS(__VA_ARGS__)     \
  explicit Name(const ::tenon::Key& key) { ::tenon::nn::fields::initialise(*this, key); }

namespace tenon::nn {

/// Values for a parameter of a shape.
using Initialiser = std::function<Tensor(const Key&, const std::vector<int64_t>&)>;

/// A tensor that is learned. It has a shape from the begin, and values once a key, an assignment or
/// a file gave them; before that a use of it is an error.
struct TENON_API Parameter : Tensor {
  Parameter(std::vector<int64_t> shape, Initialiser initialiser, DType dtype = DType::kF32);
  Parameter(Tensor value);  // NOLINT: a tensor is one
  Parameter(const Parameter&) = default;
  Parameter& operator=(const Parameter&) = default;
  /// Throws kInvalid for a value of another shape or dtype.
  Parameter& operator=(const Tensor& value);
  /// A value of any shape and dtype, which it has from now on.
  void redeclare(const Tensor& value);

  struct Declared {
    std::vector<int64_t> shape;
    DType dtype;
    Initialiser initialiser;  ///< none: of one that was made from a value
    std::string name = {};    ///< in the model that got values, for messages
  };
  std::shared_ptr<const Declared> declared;
  bool frozen = false;  ///< kept as it is by learning

  auto fields() { return std::tie(static_cast<Tensor&>(*this), frozen); }
};

/// What a model keeps and does not learn, as a running mean: declared like a parameter, so that it
/// gets its first values, and its context, with them.
struct TENON_API Buffer : Parameter {
  using Parameter::Parameter;
  Buffer& operator=(const Tensor& value) {
    Parameter::operator=(value);
    return *this;
  }
};

/// A number that belongs to a module as an option does: a function that is traced with one is
/// traced anew for another.
struct Fixed {
  Fixed(double value) : bits(std::bit_cast<int64_t>(value)) {}  // NOLINT: reads as the number
  double value() const { return std::bit_cast<double>(bits); }
  int64_t bits;
  auto fields() { return std::tie(bits); }
};

namespace fields {

template <class T>
concept HasNames = requires {
  { T::field_names() } -> std::convertible_to<std::string_view>;
};

/// Names of its own, of the names that its fields give: name_of("cells.0.weight").
template <class T>
concept HasOwnNames = requires(const T& value) {
  { value.name_of(std::string()) } -> std::convertible_to<std::string>;
};

/// The first name of a list, which is cut off it.
TENON_API std::string next_name(std::string_view& names);
/// "a" and "b" make "a.b"; an empty one makes no dot.
TENON_API std::string joined(const std::string& prefix, const std::string& name);

/// Calls on(name, Parameter&), on(name, Buffer&) and on(name, Tensor&) for all below a value, in
/// the order of fields.
template <class T, class On>
void each(T& value, const std::string& name, const On& on) {
  if constexpr (std::is_base_of_v<Tensor, T>) {
    on(name, value);
  } else if constexpr (compiled::kIsOptional<T>) {
    if (value) each(*value, name, on);
  } else if constexpr (compiled::kIsVector<T>) {
    for (size_t i = 0; i < value.size(); ++i) each(value[i], joined(name, std::to_string(i)), on);
  } else if constexpr (compiled::HasFields<T> && HasNames<T>) {
    const auto each_field = [&](const std::string& before, const auto& call) {
      std::string_view names = T::field_names();
      std::apply([&](auto&... part) { (each(part, joined(before, next_name(names)), call), ...); },
                 value.fields());
    };
    if constexpr (HasOwnNames<T>)
      each_field("", [&](const std::string& own, auto& tensor) {
        on(joined(name, value.name_of(own)), tensor);
      });
    else
      each_field(name, on);
  } else if constexpr (compiled::HasFields<T> || compiled::IsTuple<T>) {
    size_t i = 0;
    const auto each_part = [&](auto&... part) {
      (each(part, joined(name, std::to_string(i++)), on), ...);
    };
    if constexpr (compiled::HasFields<T>)
      std::apply(each_part, value.fields());
    else
      std::apply(each_part, value);
  } else {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T> || std::is_same_v<T, Key>,
                  "a field of a module: expected a Parameter, a Tensor, an integer, an enum, a "
                  "Fixed number, a Key, or what is made of them: a module, std::vector, array, "
                  "tuple, optional");
  }
}

}  // namespace fields

template <class T>
concept Module = compiled::HasFields<T> || compiled::kIsVector<T> || compiled::IsTuple<T>;

/// A tensor of a model under the name that checkpoints give it.
struct Named {
  std::string name;
  Tensor* tensor;
  Parameter* parameter;  ///< and how it was declared; null for a plain Tensor
  bool is_learned;       ///< false for a Buffer, too
};

/// All tensors of a model, in the order of its fields; they are those of the model itself.
template <Module M>
std::vector<Named> tensors(M& model) {
  std::vector<Named> out;
  fields::each(model, "", [&]<class T>(const std::string& name, T& tensor) {
    if constexpr (std::is_base_of_v<Parameter, T>)
      out.push_back({name, &tensor, &tensor, !std::is_base_of_v<Buffer, T>});
    else
      out.push_back({name, &tensor, nullptr, false});
  });
  return out;
}

/// Its parameters.
template <Module M>
std::vector<Named> parameters(M& model) {
  std::vector<Named> out = tensors(model);
  std::erase_if(out, [](const Named& tensor) { return !tensor.is_learned; });
  return out;
}

/// Those that are not frozen: what gradients and optimizers are for.
template <Module M>
std::vector<Named> learned(M& model) {
  std::vector<Named> out = parameters(model);
  std::erase_if(out, [](const Named& tensor) { return tensor.parameter->frozen; });
  return out;
}

namespace fields {
TENON_API void initialise(const std::vector<Named>& tensors, const Key& key);
template <class M>
void initialise(M& model, const Key& key) {
  initialise(tensors(model), key);
}
}  // namespace fields

/// A model that was declared without a key, as init(Sequential(..), key), with values as
/// TENON_MODULE gives them. What was made from a value keeps it.
template <Module M>
M init(M model, const Key& key) {
  fields::initialise(model, key);
  return model;
}

/// From now on parameters stay as they are (or are learned again). Returns how many changed.
template <Module M>
size_t freeze(M& model, bool frozen = true) {
  size_t changed = 0;
  for (const Named& named : parameters(model)) {
    changed += named.parameter->frozen != frozen;
    named.parameter->frozen = frozen;
  }
  return changed;
}

/// Elements of all parameters.
template <Module M>
int64_t count(M& model) {
  int64_t out = 0;
  for (const Named& named : parameters(model)) {
    int64_t size = 1;
    for (const int64_t n : named.parameter->declared->shape) size *= n;
    out += size;
  }
  return out;
}

/// Replaces each tensor by f(name, tensor), of any shape and dtype.
template <Module M, class F>
void map(M& model, const F& f) {
  for (const Named& named : tensors(model)) {
    if (named.parameter)
      named.parameter->redeclare(f(named.name, *named.tensor));
    else
      *named.tensor = f(named.name, *named.tensor);
  }
}

struct LossAndGradients {
  Tensor loss;
  std::vector<Tensor> gradients;  ///< one for each of learned(model)
};

/// loss(model), a tensor of one element, and its gradients by what the model learns. What the
/// function leaves in tensors that are not learned is kept in the model. Throws kInvalid, naming
/// the parameter, for one that the loss does not depend on: freeze it.
template <Module M, class Loss>
LossAndGradients value_and_grad(M& model, const Loss& loss);

namespace fields {
TENON_API LossAndGradients
loss_and_gradients(const std::vector<Named>& learned,
                   const std::function<Tensor(const std::vector<Tensor>&)>& loss);
}

template <Module M, class Loss>
LossAndGradients value_and_grad(M& model, const Loss& loss) {
  M used = model;
  LossAndGradients out =
      fields::loss_and_gradients(learned(model), [&](const std::vector<Tensor>& values) {
        auto value = values.begin();
        for (const Named& named : learned(used)) *named.tensor = *value++;
        return loss(used);
      });
  const std::vector<Named> from = tensors(used), to = tensors(model);
  for (size_t i = 0; i < to.size(); ++i)
    if (!to[i].is_learned) *to[i].tensor = *from[i].tensor;
  return out;
}

}  // namespace tenon::nn
