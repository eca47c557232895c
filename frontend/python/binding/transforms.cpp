// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/python/binding/transforms.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <mutex>

#include "frontend/python/binding/arguments.hpp"
#include "frontend/python/binding/errors.hpp"
#include "frontend/python/binding/gil.hpp"
#include "frontend/python/binding/structs.hpp"
#include "frontend/python/binding/tree.hpp"
#include "tenon/compile.hpp"
#include "tenon/control_flow.hpp"
#include "tenon/gradient.hpp"

namespace tenon::python {
namespace {

/// A structure whose tensors are others each time.
class Template {
 public:
  Template(nb::handle tree, bool floats) : floats_(floats), tree_(nb::borrow(tree)) {}
  nb::object with(const std::vector<Tensor>& values) const {
    auto next = values.begin();
    return mapped(tree_.get(), floats_, [&](nb::handle) { return nb::cast(*next++); });
  }

 private:
  bool floats_;
  PythonRef tree_;
};

/// Holds no tensor alive.
nb::object forgotten(nb::handle tree) {
  return mapped(tree, false, [](nb::handle) { return nb::cast(Tensor()); });
}

class Compiled {
 public:
  Compiled(nb::object f, std::string name, std::vector<size_t> donate)
      : name_(std::move(name)),
        donate_(std::move(donate)),
        shared_(std::make_shared<Shared>(PythonRef(std::move(f)))),
        compiled_([shared = shared_](const std::vector<Tensor>& arguments,
                                     size_t number) { return shared->trace(arguments, number); },
                  name_, [shared = shared_](size_t number) { shared->forget(number); }) {}

  nb::object call(nb::args args, nb::kwargs kwargs) {
    Leaves leaves;
    std::vector<bool> donated;
    for (const size_t place : donate_)
      if (place >= nb::len(args))
        raise(Raised::kInvalid, "[{}] expected an argument {}, which is donated, got {} by place",
              name_, place, nb::len(args));
    const size_t count = nb::len(args);
    leaves.tensors.reserve(count);
    leaves.key.reserve(2 * count + 8);
    for (size_t place = 0; place < count; ++place) {
      add_leaves(PyTuple_GET_ITEM(args.ptr(), static_cast<Py_ssize_t>(place)), true, &interned_,
                 leaves);
      if (!donate_.empty())
        donated.resize(leaves.tensors.size(), std::ranges::count(donate_, place) != 0);
    }
    leaves.key.push_back(static_cast<int64_t>(count));
    add_leaves(kwargs, true, &interned_, leaves);
    if (!donate_.empty()) donated.resize(leaves.tensors.size(), false);
    const nb::object both = nb::make_tuple(args, kwargs);
    const Current current(both);
    const CompiledFunction::Results results =
        without_gil([&] { return compiled_.call(leaves.tensors, donated, leaves.key); });
    return shared_->result(results);
  }

  size_t traces() const {
    return without_gil([&] { return compiled_.traces(); });
  }
  const nb::object& function() const { return shared_->f.get(); }

 private:
  /// The arguments of the call that is under way on this thread.
  struct Current {
    explicit Current(nb::handle arguments) : before(now()) { now() = arguments; }
    ~Current() { now() = before; }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    static nb::handle& now() {
      thread_local nb::handle arguments;
      return arguments;
    }
    nb::handle before;
  };

  struct Shared {
    explicit Shared(PythonRef function) : f(std::move(function)) {}

    std::vector<Tensor> trace(const std::vector<Tensor>& arguments, size_t number) {
      const GilAcquire lock;
      const nb::object both = Template(Current::now(), true).with(arguments);
      const nb::object result = f.get()(*nb::borrow<nb::args>(nb::object(both[0])),
                                        **nb::borrow<nb::kwargs>(nb::object(both[1])));
      std::vector<Tensor> out = leaves_of(result, false, nullptr).tensors;
      const Template kept(forgotten(result), false);
      const std::lock_guard guard(mutex);
      results.insert_or_assign(number, kept);
      return out;
    }

    void forget(size_t number) {
      std::map<size_t, Template>::node_type gone;  // lives until the lock is gone
      const std::lock_guard guard(mutex);
      gone = results.extract(number);
    }

    nb::object result(const CompiledFunction::Results& from) {
      std::optional<Template> found;
      {
        const std::lock_guard guard(mutex);
        found = results.at(from.trace);
      }
      return found->with(from.values);
    }

    PythonRef f;
    std::mutex mutex;
    std::map<size_t, Template> results;  ///< of each trace, for its structure
  };

  std::string name_;
  std::vector<size_t> donate_;
  Interned interned_;
  std::shared_ptr<Shared> shared_;
  CompiledFunction compiled_;
};

/// Floats, but for what a model keeps and does not learn.
bool is_by(nb::handle x) {
  if (nb::isinstance<nn::Buffer>(x)) return false;
  if (nb::isinstance<nn::Parameter>(x) && nb::inst_ptr<nn::Parameter>(x)->frozen) return false;
  if (const Tensor* t = tensor_in(x)) return is_float(t->dtype());
  return true;  // a number
}

nb::tuple value_and_grad_of(nb::callable f, nb::handle wrt, nb::callable call_with) {
  std::vector<Tensor> by;
  static_cast<void>(mapped(wrt, true, [&](nb::handle x) -> nb::object {
    if (is_by(x)) by.push_back(from<Tensor>({"grad", "an argument"}, x));
    return nb::none();
  }));
  nb::object aux = nb::none();
  const auto found = compiled::value_and_grad(
      [&](const std::vector<Tensor>& values) {
        auto next = values.begin();
        const nb::object given = mapped(wrt, true, [&](nb::handle x) -> nb::object {
          return is_by(x) ? nb::cast(*next++) : nb::borrow(x);  // a Buffer is a Tensor
        });
        const nb::tuple result = nb::cast<nb::tuple>(call_with(f, given));
        aux = result[1];
        return from<Tensor>({"value_and_grad", "a loss"}, result[0]);
      },
      by, {});
  auto next = found.gradients.begin();
  const nb::object gradients = mapped(wrt, true, [&](nb::handle x) -> nb::object {
    return is_by(x) ? nb::cast(*next++) : nb::none();
  });
  return nb::make_tuple(found.value, gradients, aux);
}

std::vector<Tensor> tensors_of(nb::handle tree) { return leaves_of(tree, true, nullptr).tensors; }

/// f of structures as a function of lists, for trees with the structure of `inputs`.
TensorFunction of_lists(nb::object f, nb::handle inputs,
                        std::shared_ptr<std::optional<Template>> out) {
  return [f = PythonRef(std::move(f)), given = Template(inputs, true),
          out](const std::vector<Tensor>& values) {
    const GilAcquire lock;
    const nb::object result = f.get()(*nb::borrow<nb::args>(given.with(values)));
    if (out) out->emplace(forgotten(result), false);
    return leaves_of(result, true, nullptr).tensors;
  };
}

void add_gradients(nb::module_& m) {
  m.def("_value_and_grad", value_and_grad_of);
  m.def(
      "_grad",
      [](nb::handle output, nb::handle wrt, nb::handle seed) {
        const auto y = from<Tensor>({"grad", "an output"}, output);
        const std::vector<Tensor> by = tensors_of(wrt);
        const std::vector<Tensor> out =
            seed.is_none() ? grad(y, by) : grad(y, by, from<Tensor>({"grad", "a seed"}, seed));
        auto next = out.begin();
        return mapped(wrt, true, [&](nb::handle) { return nb::cast(*next++); });
      },
      nb::arg("output"), nb::arg("wrt"), nb::arg("seed").none());
  m.def("_vjp", [](nb::object f, const nb::tuple& inputs, nb::handle seeds) {
    auto out = std::make_shared<std::optional<Template>>();
    const ValuesAndProducts found =
        vjp(of_lists(std::move(f), inputs, out), tensors_of(inputs), tensors_of(seeds));
    return nb::make_tuple((*out)->with(found.values), Template(inputs, true).with(found.products));
  });
  m.def("_jvp", [](nb::object f, const nb::tuple& inputs, nb::handle tangents) {
    auto out = std::make_shared<std::optional<Template>>();
    const ValuesAndProducts found =
        jvp(of_lists(std::move(f), inputs, out), tensors_of(inputs), tensors_of(tangents));
    return nb::make_tuple((*out)->with(found.values), (*out)->with(found.products));
  });
  m.def(
      "stop_gradient",
      [](nb::handle x) {
        return stop_gradient(from<Tensor>({"stop_gradient", "x"}, x));
      },
      nb::arg("x").none(),
      "The same values; a gradient ends here.\n\n"
      ">>> tn.grad(lambda x: (x * tn.stop_gradient(x)).sum())(tn.asarray([3.0]))\n"
      "Tensor([3.], dtype=float32, device='cpu:0')");
  m.def("_checkpoint", [](nb::object f, const nb::tuple& inputs) {
    auto out = std::make_shared<std::optional<Template>>();
    const std::vector<Tensor> found =
        checkpoint(of_lists(std::move(f), inputs, out))(tensors_of(inputs));
    return (*out)->with(found);
  });
  nb::class_<GradientTape>(
      m, "GradientTape",
      "While one lives, what tensors that are read on this thread were computed "
      "from stays alive, so that gradients go through them.")
      .def(nb::init<>());
}

void add_control_flow(nb::module_& m) {
  m.def(
      "_scan",
      [](nb::object f, nb::handle carried, nb::handle inputs, bool reverse, nb::handle length) {
        const Template carry(carried, true), row(inputs, true);
        std::optional<Template> outputs;
        ScanOptions options{.reverse = reverse};
        options.length = from_optional<Size>({"scan", "length"}, length);
        const Scanned found = scan(
            [&](const std::vector<Tensor>& c, const std::vector<Tensor>& x) {
              const nb::object result = f(carry.with(c), row.with(x));
              if (!PyTuple_Check(result.ptr()) || nb::len(result) != 2)
                refuse({"scan", "what a step returns"}, "a pair, of what is carried and an output",
                       result);
              outputs.emplace(forgotten(result[1]), false);
              return Scanned{tensors_of(result[0]), leaves_of(result[1], false, nullptr).tensors};
            },
            tensors_of(carried), tensors_of(inputs), options);
        return nb::make_tuple(carry.with(found.carried), outputs->with(found.outputs));
      },
      nb::arg("f"), nb::arg("carried").none(), nb::arg("inputs").none(), nb::arg("reverse"),
      nb::arg("length").none());
  m.def("_fori_loop", [](nb::handle begin, nb::handle end, nb::object f, nb::handle carried) {
    const Template carry(carried, true);
    return carry.with(fori_loop(
        from<Tensor>({"fori_loop", "begin"}, begin), from<Tensor>({"fori_loop", "end"}, end),
        [&](const Tensor& i, const std::vector<Tensor>& c) {
          return tensors_of(f(i, carry.with(c)));
        },
        tensors_of(carried)));
  });
  m.def(
      "_while_loop",
      [](nb::object condition, nb::object f, nb::handle carried, std::optional<int64_t> max_trips) {
        const Template carry(carried, true);
        return carry.with(while_loop(
            [&](const std::vector<Tensor>& c) {
              return from<Tensor>({"while_loop", "a condition"}, condition(carry.with(c)));
            },
            [&](const std::vector<Tensor>& c) { return tensors_of(f(carry.with(c))); },
            tensors_of(carried), {.max_trips = max_trips}));
      },
      nb::arg("condition"), nb::arg("f"), nb::arg("carried"), nb::arg("max_trips").none());
  m.def("_cond",
        [](nb::handle condition, nb::object yes, nb::object no, const nb::tuple& operands) {
          const Template given(operands, true);
          std::optional<Template> out;
          const auto branch = [&](nb::object& f) {
            return [&](const std::vector<Tensor>& values) {
              const nb::object result = f(*nb::borrow<nb::args>(given.with(values)));
              out.emplace(forgotten(result), false);
              return tensors_of(result);
            };
          };
          const std::vector<Tensor> found = cond(from<Tensor>({"cond", "a condition"}, condition),
                                                 branch(yes), branch(no), tensors_of(operands));
          return out->with(found);
        });
}

}  // namespace

void add_transforms(nb::module_& m) {
  add_trees(m);
  nb::class_<Compiled>(m, "_Compiled", "A function that is traced once and replayed.")
      .def("__init__",
           [](Compiled* self, nb::object f, std::string name, std::vector<size_t> donate) {
             new (self) Compiled(std::move(f), std::move(name), std::move(donate));
           })
      .def("__call__", &Compiled::call)
      .def_prop_ro("traces", &Compiled::traces, "How many traces are kept.")
      .def_prop_ro("__wrapped__", &Compiled::function);
  add_gradients(m);
  add_control_flow(m);
}

}  // namespace tenon::python
