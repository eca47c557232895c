// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extension tenon._core.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "frontend/python/binding/arguments.hpp"
#include "frontend/python/binding/arrays.hpp"
#include "frontend/python/binding/dlpack.hpp"
#include "frontend/python/binding/errors.hpp"
#include "frontend/python/binding/functions.hpp"
#include "frontend/python/binding/nn.hpp"
#include "frontend/python/binding/tensor.hpp"
#include "frontend/python/binding/transforms.hpp"
#include "tenon/context.hpp"
#include "tenon/promote.hpp"
#include "tenon/random.hpp"

namespace tenon::python {
namespace {

nb::dict facts_of(const DeviceInfo& info) {
  nb::dict out;
  out["id"] = info.id;
  out["name"] = info.name;
  out["compute"] = info.compute;
  out["compute_units"] = info.compute_units;
  out["vector_bytes"] = info.vector_bytes;
  out["bytes_in_use"] = info.bytes_in_use;
  out["bytes_reserved"] = info.bytes_reserved;
  return out;
}

void add_devices(nb::module_& m) {
  m.def("_device_ids", [] { return without_gil([] { return Context::standard().device_ids(); }); });
  m.def("_device", [](const std::string& id) {
    return facts_of(without_gil([&] { return Context::standard().device(id); }));
  });
}

void add_sizes(nb::module_& m) {
  nb::class_<Size>(m, "Size", "A size of an axis that a symbol decides when a graph runs.")
      .def_static(
          "symbol",
          [](const std::string& name, int64_t minimum, int64_t maximum) {
            return Size::symbol(name, minimum, maximum);
          },
          nb::arg("name"), nb::arg("minimum"), nb::arg("maximum"),
          "Any size of minimum to maximum. Raises InvalidError for other bounds.")
      .def("__add__",
           [](const Size& a, nb::handle b) {
             return a + from<Size>({"add", "b"}, b);
           })
      .def("__radd__",
           [](const Size& a, nb::handle b) {
             return from<Size>({"add", "a"}, b) + a;
           })
      .def("__sub__",
           [](const Size& a, nb::handle b) {
             return a - from<Size>({"sub", "b"}, b);
           })
      .def("__rsub__",
           [](const Size& a, nb::handle b) {
             return from<Size>({"sub", "a"}, b) - a;
           })
      .def("__mul__",
           [](const Size& a, nb::handle b) {
             return a * from<Size>({"mul", "b"}, b);
           })
      .def("__rmul__",
           [](const Size& a, nb::handle b) {
             return from<Size>({"mul", "a"}, b) * a;
           })
      .def("__floordiv__",
           [](const Size& a, nb::handle b) {
             return a / from<Size>({"floordiv", "b"}, b);
           })
      .def("__mod__",
           [](const Size& a, nb::handle b) {
             return a % from<Size>({"mod", "b"}, b);
           })
      .def("__eq__",
           [](const Size& a, nb::handle b) {
             if (!nb::isinstance<Size>(b) && !PyLong_Check(b.ptr())) return false;
             return a == from<Size>({"eq", "b"}, b);
           })
      .def("__hash__", [](const Size& a) { return std::hash<std::string>()(a.text()); })
      .def("__repr__", [](const Size& a) { return a.text(); });
  m.def(
      "with_size",
      [](nb::handle x, nb::handle axis, nb::handle size) {
        const auto value = from<Tensor>({"with_size", "x"}, x);
        const auto at = from<int>({"with_size", "axis"}, axis);
        const auto to = from<Size>({"with_size", "size"}, size);
        return without_gil([&] { return value.with_size(at, to); });
      },
      nb::arg("x"), nb::arg("axis"), nb::arg("size"),
      "The same value, as a tensor whose type says `size` for an axis: a graph of it is traced and "
      "planned once for all sizes.\n\n"
      ">>> tn.with_size(tn.ones(3), 0, tn.Size.symbol('n', 1, 8)).shape\n(n,)");
}

void add_keys(nb::module_& random) {
  nb::class_<Key>(random, "Key",
                  "What random numbers are drawn from: the same key, the same numbers.")
      .def("__init__",
           [](Key* self, nb::handle seed) {
             if (const Tensor* words = tensor_in(seed)) {
               new (self) Key(*words);
               return;
             }
             const auto number = from<Number>({"Key", "seed"}, seed).as("Key", DType::kU64);
             new (self) Key(number.bits);
           })
      .def(
          "split",
          [](const Key& key, nb::handle count) {
            return key.split(from<int64_t>({"split", "count"}, count));
          },
          nb::arg("count") = 2,
          "So many keys, whose draws are independent of each other and of this key's.")
      .def_prop_ro("words", &Key::words, "uint32 [2].");
}

}  // namespace
}  // namespace tenon::python

NB_MODULE(_core, m) {
  m.attr("__version__") = TENON_VERSION;
  using namespace tenon;
  using namespace tenon::python;
  nb::set_leak_warnings(false);  // objects of modules live until the process ends
  add_errors(m);
  add_arrays(m);
  auto tensor =
      nb::class_<Tensor>(m, "Tensor", nb::is_weak_referenceable(), nb::type_slots(buffer_slots()),
                         "A tensor: lazy, until a value of it is read.");
  add_sizes(m);
  add_tensor(tensor);
  add_dlpack(m, tensor);
  add_functions(m, tensor);
  add_devices(m);
  nb::module_ random = nb::borrow<nb::module_>(m.attr("_random"));
  add_keys(random);
  add_transforms(m);
  nb::module_ nn = m.def_submodule("_nn"), optim = m.def_submodule("_optim");
  add_models(nn);
  add_optimizers(optim);
  add_layers(nn, optim);
  m.def(
      "promote_types",
      [](nb::handle a, nb::handle b) {
        return promote_types(from<DType>({"promote_types", "a"}, a),
                             from<DType>({"promote_types", "b"}, b));
      },
      nb::arg("a"), nb::arg("b"),
      "The dtype in which two meet: NumPy's table.\n\n"
      ">>> tn.promote_types(tn.int32, tn.float32)\ntenon.float64");
  m.def("_realize", [](nb::handle tensors) {
    const auto all = from<std::vector<Tensor>>({"realize", "tensors"}, tensors);
    without_gil([&] { realize(all); });
  });
}
