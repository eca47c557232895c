// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/python/binding/nn.hpp"

#include <nanobind/stl/string.h>

#include "frontend/python/binding/errors.hpp"
#include "frontend/python/binding/gil.hpp"
#include "frontend/python/binding/structs.hpp"
#include "frontend/python/binding/tree.hpp"
#include "tenon/nn/checkpoint.hpp"
#include "tenon/nn/summary.hpp"

namespace tenon::python {

template <>
nn::Mode from(Place place, nb::handle value) {
  if (!nb::isinstance<nn::Mode>(value)) refuse(place, "a tenon.nn.Mode", value);
  return nb::cast<nn::Mode>(value);
}

template <>
nn::Optimizer from(Place place, nb::handle value) {
  if (!nb::isinstance<nn::Optimizer>(value)) refuse(place, "an optimizer of tenon.optim", value);
  return nb::cast<nn::Optimizer>(value);
}

template <>
std::vector<nn::Optimizer> from(Place place, nb::handle value) {
  if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr()))
    refuse(place, "a list of optimizers", value);
  std::vector<nn::Optimizer> out;
  for (nb::handle each : nb::borrow<nb::sequence>(value))
    out.push_back(from<nn::Optimizer>(place, each));
  return out;
}

template <>
nn::Rate from(Place place, nb::handle value) {
  if (nb::isinstance<nn::Rate>(value)) return nb::cast<nn::Rate>(value);
  if (!PyCallable_Check(value.ptr()) || tensor_in(value)) return from<double>(place, value);
  return std::function<Tensor(const Tensor&)>(
      [f = PythonRef(nb::borrow(value)), place](const Tensor& step) {
        const GilAcquire lock;
        return from<Tensor>({place.function, "what a rate returns"}, f.get()(step));
      });
}

template <>
nn::Which from(Place place, nb::handle value) {
  if (value.is_none()) return {};
  if (!PyCallable_Check(value.ptr())) refuse(place, "a function of a name and a tensor", value);
  return [f = PythonRef(nb::borrow(value)), place](const nn::Named& named) {
    const GilAcquire lock;
    return from<bool>({place.function, "what a mask returns"}, f.get()(named.name, *named.tensor));
  };
}

nb::object to_python(const nn::Fixed& value) { return nb::float_(value.value()); }

namespace {

enum class Chosen { kAll, kParameters, kLearned };

std::vector<nn::Named> chosen_of(nb::handle model, Chosen chosen) {
  std::vector<nn::Named> out = named_of(model);
  std::erase_if(out, [&](const nn::Named& named) {
    if (chosen == Chosen::kAll) return false;
    return !named.is_learned || (chosen == Chosen::kLearned && named.parameter->frozen);
  });
  return out;
}

nb::dict by_name(nb::handle model, Chosen chosen) {
  nb::dict out;
  for (const nn::Named& named : chosen_of(model, chosen))
    out[named.name.c_str()] = nb::cast(Tensor(*named.tensor));
  return out;
}

/// A list for each learned parameter, or a structure as a gradient of the model is.
std::vector<Tensor> gradients_of(nb::handle gradients) {
  if (PyList_Check(gradients.ptr()))
    return from<std::vector<Tensor>>({"update", "gradients"}, gradients);
  std::vector<Tensor> out;
  for (const nn::Named& named : chosen_of(gradients, Chosen::kLearned))
    out.push_back(*named.tensor);
  return out;
}

nb::object copied(nb::handle model) {
  return mapped(model, false, [](nb::handle x) { return nb::borrow(x); });
}

nb::tuple value_and_grad(nb::handle model, const nb::callable& loss) {
  const nb::object used = copied(model);
  const std::vector<nn::Named> learned = chosen_of(used, Chosen::kLearned);
  const nn::LossAndGradients found =
      nn::fields::loss_and_gradients(learned, [&](const std::vector<Tensor>& values) {
        auto value = values.begin();
        for (const nn::Named& named : learned) *named.tensor = *value++;
        return from<Tensor>({"value_and_grad", "a loss"}, loss(used));
      });
  const std::vector<nn::Named> from = named_of(used), to = named_of(model);
  if (from.size() != to.size())
    raise(Raised::kInvalid,
          "[value_and_grad] expected a loss that leaves the model's {} tensors, got {}", to.size(),
          from.size());
  for (size_t i = 0; i < to.size(); ++i)
    if (!to[i].is_learned) *to[i].tensor = *from[i].tensor;
  return nb::make_tuple(found.loss, to_python(found.gradients));
}

formats::Metadata metadata_of(nb::handle metadata) {
  formats::Metadata out;
  if (metadata.is_none()) return out;
  if (!PyDict_Check(metadata.ptr())) refuse({"save", "metadata"}, "a dict of strings", metadata);
  for (const auto [name, value] : nb::borrow<nb::dict>(metadata))
    out[from<std::string>({"save", "a name of metadata"}, name)] =
        from<std::string>({"save", "a value of metadata"}, value);
  return out;
}

std::vector<nn::fields::Kept> kept(nb::handle model, nb::handle optimizer, nb::handle state) {
  const std::vector<nn::Named> tensors = named_of(model);
  if (optimizer.is_none()) return nn::fields::kept(tensors);
  if (!nb::isinstance<nn::OptimizerState>(state))
    refuse({"save", "state"}, "what the optimizer's init returned", state);
  return nn::fields::kept(tensors, from<nn::Optimizer>({"save", "optimizer"}, optimizer),
                          chosen_of(model, Chosen::kLearned),
                          *nb::inst_ptr<nn::OptimizerState>(state));
}

template <class T>
void add_parameter(nb::module_& m, const char* name, const char* doc) {
  nb::class_<T, std::conditional_t<std::is_same_v<T, nn::Buffer>, nn::Parameter, Tensor>>(m, name,
                                                                                          doc)
      .def("__init__",
           [](T* self, nb::handle value) {
             new (self) T(from<Tensor>({"Parameter", "a value"}, value));
           })
      .def_prop_rw(
          "frozen", [](const T& x) { return x.frozen; },
          [](T& x, bool frozen) { x.frozen = frozen; }, "Kept as it is by learning.");
}

}  // namespace

void add_models(nb::module_& m) {
  add_parameter<nn::Parameter>(
      m, "Parameter", "A tensor that is learned.\n\n>>> tn.nn.Parameter(tn.ones(2)).frozen\nFalse");
  add_parameter<nn::Buffer>(m, "Buffer",
                            "What a model keeps and does not learn, as a running mean.\n\n"
                            ">>> tn.nn.Buffer(tn.ones(2)).shape\n(2,)");
  nb::class_<nn::Mode>(m, "Mode",
                       "How a model is used: to answer, the default, or to learn, by `training`.")
      .def(nb::init<>())
      .def_static(
          "training",
          [](nb::handle key) {
            return key.is_none() ? nn::Mode::training()
                                 : nn::Mode::training(from<Key>({"training", "key"}, key));
          },
          nb::arg("key") = nb::none(),
          "The model learns; the key, which is used up, is split for each layer that draws.\n\n"
          ">>> tn.nn.Mode.training(tn.random.Key(0)).is_training\nTrue")
      .def_prop_ro("is_training", &nn::Mode::is_training, "Whether the model learns.");
  m.def(
      "named_tensors", [](nb::handle model) { return by_name(model, Chosen::kAll); },
      nb::arg("model"),
      "All tensors of a model by the names that checkpoints give them.\n\n"
      ">>> list(tn.nn.named_tensors(tn.nn.Linear(2, 1, key=tn.random.Key(0))))\n['weight', "
      "'bias']");
  m.def(
      "named_parameters", [](nb::handle model) { return by_name(model, Chosen::kParameters); },
      nb::arg("model"),
      "What a model learns, by name.\n\n"
      ">>> list(tn.nn.named_parameters(tn.nn.BatchNorm(2, key=tn.random.Key(0))))\n['weight', "
      "'bias']");
  m.def(
      "count",
      [](nb::handle model) {
        int64_t out = 0;
        for (const nn::Named& named : chosen_of(model, Chosen::kParameters)) {
          int64_t size = 1;
          for (const int64_t n : named.parameter->declared->shape) size *= n;
          out += size;
        }
        return out;
      },
      nb::arg("model"),
      "Elements of all parameters.\n\n>>> tn.nn.count(tn.nn.Linear(3, 2, "
      "key=tn.random.Key(0)))\n8");
  m.def(
      "freeze",
      [](nb::handle model, bool frozen) {
        size_t changed = 0;
        for (const nn::Named& named : chosen_of(model, Chosen::kParameters)) {
          changed += named.parameter->frozen != frozen;
          named.parameter->frozen = frozen;
        }
        return changed;
      },
      nb::arg("model"), nb::arg("frozen") = true,
      "From now on parameters stay as they are, or are learned again. Returns how many changed.\n\n"
      ">>> tn.nn.freeze(tn.nn.Linear(3, 2, key=tn.random.Key(0)))\n2");
  m.def(
      "init",
      [](nb::handle model, nb::handle key) {
        nn::fields::initialise(named_of(model), from<Key>({"init", "key"}, key));
        return nb::borrow(model);
      },
      nb::arg("model"), nb::arg("key"),
      "Gives values to the parameters of a model whose layers were made without a key; returns "
      "it.\n\n"
      ">>> tn.nn.init(tn.nn.Linear(3, 2), tn.random.Key(0)).weight.shape\n(2, 3)");
  m.def("value_and_grad", value_and_grad, nb::arg("model"), nb::arg("loss"),
        "loss(model), a tensor of one element, and a list of its gradients by what the model "
        "learns.\n\n"
        "What the function leaves in tensors that are not learned is kept in the model. Raises "
        "InvalidError for a parameter that the loss does not depend on: freeze it.\n\n"
        ">>> model = tn.nn.Linear(1, 1, key=tn.random.Key(0))\n"
        ">>> loss, (w, b) = tn.nn.value_and_grad(model, lambda m: m(tn.ones((2, 1))).sum())\n"
        ">>> w, b\n(Tensor([[2.]], dtype=float32, device='cpu:0'), Tensor([2.], dtype=float32, "
        "device='cpu:0'))");
  m.def(
      "_save",
      [](nb::handle path, nb::handle model, nb::handle optimizer, nb::handle state,
         nb::handle metadata) {
        const auto file = from<std::string>({"save", "path"}, path);
        const auto tensors = kept(model, optimizer, state);
        const auto data = metadata_of(metadata);
        without_gil([&] { nn::fields::save(file, tensors, data); });
      },
      nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none());
  m.def(
      "_load",
      [](nb::handle path, nb::handle model, nb::handle optimizer, nb::handle state) {
        const auto file = from<std::string>({"load", "path"}, path);
        const auto tensors = kept(model, optimizer, state);
        const formats::Metadata found =
            without_gil([&] { return nn::fields::load(file, tensors, Context::standard()); });
        nb::dict out;
        for (const auto& [name, value] : found) out[name.c_str()] = value;
        return out;
      },
      nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def(
      "summary",
      [](nb::handle model, const nb::callable& forward) {
        return nn::fields::summary(named_of(model), [&] {
          return from<Tensor>({"summary", "what the model gives"}, forward(nb::borrow(model)));
        });
      },
      nb::arg("model"), nb::arg("forward"),
      "A table of layers: shapes, parameters, and what forward(model) costs.\n\n"
      ">>> 'weight' in tn.nn.summary(tn.nn.Linear(3, 2, key=tn.random.Key(0)), lambda m: "
      "m(tn.ones((1, 3))))\n"
      "True");
}

void add_optimizers(nb::module_& m) {
  nb::class_<nn::Rate>(m, "Rate", "A learning rate: a function of the step.")
      .def("__call__", [](const nn::Rate& rate, nb::handle step) {
        return rate(from<Tensor>({"rate", "step"}, step));
      });
  const nb::class_<nn::OptimizerState> state(m, "OptimizerState",
                                             "What an optimizer keeps beside a model.");
  add_struct(state);
  nb::class_<nn::Optimizer>(m, "Optimizer", "What makes better parameters of gradients.")
      .def(
          "init",
          [](const nn::Optimizer& optimizer, nb::handle model) {
            return optimizer.init(chosen_of(model, Chosen::kLearned));
          },
          nb::arg("model"), "What it keeps beside a model, at the begin.")
      .def(
          "update",
          [](const nn::Optimizer& optimizer, nb::handle model, nb::handle gradients,
             nn::OptimizerState& kept_state) {
            optimizer.update(chosen_of(model, Chosen::kLearned), gradients_of(gradients),
                             kept_state);
          },
          nb::arg("model"), nb::arg("gradients"), nb::arg("state"),
          "A step: new parameters in the model, and a new state, lazy until they are realized.");
}

}  // namespace tenon::python
