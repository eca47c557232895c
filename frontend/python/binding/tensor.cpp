// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The class Tensor: facts, values, operators and brackets.
#include "frontend/python/binding/tensor.hpp"

#include "frontend/python/binding/arguments.hpp"
#include "frontend/python/binding/arrays.hpp"
#include "frontend/python/binding/errors.hpp"
#include "tenon/error.hpp"
#include "tenon/print.hpp"

namespace tenon::python {
namespace {

using Binary = Tensor (*)(const Tensor&, const Tensor&);

template <Binary f>
nb::object forward(nb::handle a, nb::handle b) {
  const std::optional<Tensor> other = as_tensor(b);
  if (!other) return nb::borrow(Py_NotImplemented);
  return to_python(f(*tensor_in(a), *other));
}
template <Binary f>
nb::object reflected(nb::handle a, nb::handle b) {
  const std::optional<Tensor> other = as_tensor(b);
  if (!other) return nb::borrow(Py_NotImplemented);
  return to_python(f(*other, *tensor_in(a)));
}

Tensor add(const Tensor& a, const Tensor& b) { return a + b; }
Tensor subtract(const Tensor& a, const Tensor& b) { return a - b; }
Tensor multiply(const Tensor& a, const Tensor& b) { return a * b; }
Tensor quotient(const Tensor& a, const Tensor& b) { return tenon::divide(a, b); }
Tensor floor_quotient(const Tensor& a, const Tensor& b) { return tenon::floor_divide(a, b); }
Tensor modulo(const Tensor& a, const Tensor& b) { return tenon::remainder(a, b); }
Tensor power(const Tensor& a, const Tensor& b) { return tenon::pow(a, b); }
Tensor product(const Tensor& a, const Tensor& b) { return tenon::matmul(a, b); }
Tensor bit_and(const Tensor& a, const Tensor& b) { return a & b; }
Tensor bit_or(const Tensor& a, const Tensor& b) { return a | b; }
Tensor bit_xor(const Tensor& a, const Tensor& b) { return a ^ b; }
Tensor shift_left(const Tensor& a, const Tensor& b) { return a << b; }
Tensor shift_right(const Tensor& a, const Tensor& b) { return a >> b; }
Tensor less(const Tensor& a, const Tensor& b) { return a < b; }
Tensor less_equal(const Tensor& a, const Tensor& b) { return a <= b; }
Tensor greater(const Tensor& a, const Tensor& b) { return a > b; }
Tensor greater_equal(const Tensor& a, const Tensor& b) { return a >= b; }
Tensor equal(const Tensor& a, const Tensor& b) { return a == b; }
Tensor not_equal(const Tensor& a, const Tensor& b) { return a != b; }

struct Operator {
  const char* name;
  nb::object (*forward)(nb::handle, nb::handle);
  const char* reflected_name;
  nb::object (*reflected)(nb::handle, nb::handle);
};
#define TENON_OPERATOR(f, name) \
  Operator { "__" name "__", forward<f>, "__r" name "__", reflected<f> }
constexpr Operator kOperators[] = {
    TENON_OPERATOR(add, "add"),
    TENON_OPERATOR(subtract, "sub"),
    TENON_OPERATOR(multiply, "mul"),
    TENON_OPERATOR(quotient, "truediv"),
    TENON_OPERATOR(floor_quotient, "floordiv"),
    TENON_OPERATOR(modulo, "mod"),
    TENON_OPERATOR(power, "pow"),
    TENON_OPERATOR(product, "matmul"),
    TENON_OPERATOR(bit_and, "and"),
    TENON_OPERATOR(bit_or, "or"),
    TENON_OPERATOR(bit_xor, "xor"),
    TENON_OPERATOR(shift_left, "lshift"),
    TENON_OPERATOR(shift_right, "rshift"),
};
#undef TENON_OPERATOR
constexpr std::pair<const char*, nb::object (*)(nb::handle, nb::handle)> kComparisons[] = {
    {"__lt__", forward<less>},    {"__le__", forward<less_equal>},
    {"__gt__", forward<greater>}, {"__ge__", forward<greater_equal>},
    {"__eq__", forward<equal>},   {"__ne__", forward<not_equal>},
};

/// The one element of a tensor.
Scalar the_element(const char* what, const Tensor& x) {
  if (x.size() != 1)
    raise(Raised::kInvalid, "[{}] expected a tensor of one element, got {}", what, x.size());
  return without_gil([&] { return x.to_array(); }).at(0);
}

std::string repr(const Tensor& x) {
  if (!x.has_value()) return "Tensor(no value)";
  std::string values;
  try {
    values = without_gil([&] { return to_string(x, {.line_width = 68}); });
  } catch (const Error&) {  // traced, or of symbolic sizes: it has no values
    std::string shape;
    for (const Size& size : x.sizes().vector()) shape += (shape.empty() ? "" : ", ") + size.text();
    return fmt::format("Tensor(shape=({}{}), dtype={})", shape, x.rank() == 1 ? "," : "",
                       python_name(x.dtype()));
  }
  std::string indented;
  for (const char c : values) {
    indented += c;
    if (c == '\n') indented += "       ";
  }
  return fmt::format("Tensor({}, dtype={}, device='{}')", indented, python_name(x.dtype()),
                     x.device());
}

nb::tuple shape_of(const Tensor& x) {
  nb::list out;
  for (const Size& size : x.sizes().vector()) {
    if (size.is_fixed())
      out.append(size.value());
    else
      out.append(nb::cast(size));
  }
  return nb::tuple(out);
}

int64_t length(const Tensor& x) {
  if (x.rank() == 0)
    raise(Raised::kArgument, "[len] expected a tensor of rank 1 and more, got one of rank 0");
  return x.size(0);
}

/// A mask of no axes, which takes all of a tensor or nothing.
bool is_all_or_nothing(const std::vector<Index>& index) {
  const auto* const mask = index.size() == 1 ? std::get_if<Tensor>(&index[0].value()) : nullptr;
  return mask && mask->dtype() == DType::kBool && mask->rank() == 0;
}

nb::object get_item(nb::handle self, nb::handle brackets) {
  const Tensor& x = *tensor_in(self);
  if (PyBool_Check(brackets.ptr())) {  // a mask of no axes: all or nothing
    const Tensor whole = x.expand_dims(0);
    return to_python(brackets.ptr() == Py_True ? whole : get(whole, {Slice{0, 0}}));
  }
  const std::vector<Index> index = from_brackets(x, brackets);
  return to_python(without_gil([&] {  // a mask is read
    if (!is_all_or_nothing(index)) return get(x, index);
    return get(x.expand_dims(0), {std::get<Tensor>(index[0].value()).expand_dims(0)});
  }));
}

void set_item(nb::handle self, nb::handle brackets, nb::handle value) {
  Tensor& x = *tensor_in(self);
  if (PyBool_Check(brackets.ptr())) {
    if (brackets.ptr() == Py_True) set_item(self, nb::make_tuple(nb::ellipsis()), value);
    return;
  }
  const std::vector<Index> index = from_brackets(x, brackets);
  auto values = from<Tensor>({"setitem", "a value"}, value);
  if (const auto number = as_number({"setitem", "a value"}, value)) {
    // As an assignment of NumPy does, it truncates.
    if (number->is_float() && !is_float(x.dtype()))
      values = Tensor(Number(Scalar::of(x.dtype(), nb::cast<double>(value)).as_int()));
  } else if (values.dtype() != x.dtype()) {
    values = values.astype(x.dtype());
  }
  x = without_gil([&] {
    if (!is_all_or_nothing(index)) return set(x, index, values);
    const Tensor mask = std::get<Tensor>(index[0].value());
    return where(mask, values.broadcast_to(x.sizes()).astype(x.dtype()), x);
  });
}

}  // namespace

void add_tensor(nb::class_<Tensor>& c) {
  c.def_prop_ro(
      "dtype", [](const Tensor& x) { return x.dtype(); }, "The dtype, as tenon.float32.");
  c.def_prop_ro("shape", shape_of, "The sizes, a tuple of integers; of symbolic ones `Size`.");
  c.def_prop_ro("ndim", &Tensor::rank, "How many axes there are.");
  c.def_prop_ro(
      "size", [](const Tensor& x) { return x.size(); }, "How many elements there are.");
  c.def_prop_ro("device", &Tensor::device, "The id of its device, as \"cpu:0\".");
  c.def_prop_ro(
      "itemsize", [](const Tensor& x) { return dtype_size(x.dtype()); }, "Bytes of an element.");
  c.def_prop_ro(
      "nbytes",
      [](const Tensor& x) { return dtype_size(x.dtype()) * static_cast<size_t>(x.size()); },
      "Bytes of all elements.");
  c.def_prop_ro(
      "T",
      [](const Tensor& x) {
        if (x.rank() != 2)
          raise(Raised::kInvalid,
                "[T] expected a tensor of rank 2, got one of rank {}; mT and "
                "transpose take others",
                x.rank());
        return x.matrix_transpose();
      },
      "The transpose of a matrix.");
  c.def_prop_ro(
      "mT", [](const Tensor& x) { return x.matrix_transpose(); },
      "The last two axes change places.");
  for (const Operator& row : kOperators) {
    c.def(row.name, row.forward);
    c.def(row.reflected_name, row.reflected);
  }
  for (const auto& [name, f] : kComparisons) c.def(name, f);
  c.def("__neg__", [](const Tensor& x) { return -x; });
  c.def("__pos__", [](const Tensor& x) { return x; });
  c.def("__abs__", [](const Tensor& x) { return tenon::abs(x); });
  c.def("__invert__", [](const Tensor& x) { return ~x; });
  c.def("__getitem__", get_item, nb::arg().none());
  c.def("__setitem__", set_item, nb::arg().none(), nb::arg());
  c.def("__copy__", [](const Tensor& x) { return x; });
  c.def("__deepcopy__", [](const Tensor& x, nb::handle) { return x; });
  c.def("__len__", length);
  c.def("__hash__", [](nb::handle self) { return reinterpret_cast<intptr_t>(self.ptr()) >> 4; });
  c.def("__bool__", [](const Tensor& x) { return !the_element("bool", x).is_zero(); });
  c.def("__int__", [](const Tensor& x) {
    return nb::steal(PyNumber_Long(to_scalar(the_element("int", x)).ptr()));
  });
  c.def("__float__", [](const Tensor& x) { return the_element("float", x).as_double(); });
  c.def("__index__", [](const Tensor& x) {
    if (!is_int(x.dtype()) || x.rank() != 0)
      raise(Raised::kArgument, "[index] expected an integer tensor of rank 0, got {} of rank {}",
            python_name(x.dtype()), x.rank());
    return to_scalar(the_element("index", x));
  });
  c.def("__repr__", repr);
  c.def("__str__", [](const Tensor& x) { return without_gil([&] { return to_string(x); }); });
  c.def(
      "item", [](const Tensor& x) { return to_scalar(the_element("item", x)); },
      "The one element, as a Python number.\n\nRaises InvalidError for a tensor of more.\n\n"
      ">>> tn.asarray([2.5]).item()\n2.5");
  c.def(
      "tolist", [](const Tensor& x) { return to_list(without_gil([&] { return x.to_array(); })); },
      "The elements in nested lists, as Python numbers.\n\n"
      ">>> tn.asarray([[1, 2], [3, 4]]).tolist()\n[[1, 2], [3, 4]]");
}

}  // namespace tenon::python
