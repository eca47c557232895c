// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/python/binding/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "frontend/python/binding/arrays.hpp"
#include "frontend/python/binding/errors.hpp"
#include "tenon/make.hpp"

namespace tenon::python {
namespace {

constexpr size_t kMostShown = 60;  // characters of a value in a message

std::string shown(nb::handle value) {
  std::string text;
  if (const auto* x = tensor_in(value)) {
    text = x->has_value() ? "a Tensor" : "a Tensor without a value";
  } else {
    nb::object repr = nb::steal(PyObject_Repr(value.ptr()));
    if (!repr.is_valid()) {
      PyErr_Clear();
      text = "an object";
    } else {
      text = nb::cast<std::string>(repr);
    }
  }
  if (text.size() > kMostShown) text = text.substr(0, kMostShown) + "..";
  return text + " (" + Py_TYPE(value.ptr())->tp_name + ")";
}

bool is_sequence(nb::handle value) {
  return PyTuple_Check(value.ptr()) || PyList_Check(value.ptr());
}

/// An integer, and not a bool or a float; nothing if it is none.
std::optional<int64_t> as_integer(Place place, nb::handle value) {
  PyObject* const p = value.ptr();
  if (PyBool_Check(p) || (!PyLong_Check(p) && !PyIndex_Check(p))) return {};
  if (const Tensor* x = tensor_in(value); x && (x->rank() != 0 || !is_int(x->dtype()))) return {};
  const nb::object whole = nb::steal(PyNumber_Index(p));
  if (!whole.is_valid()) {
    PyErr_Clear();
    return {};
  }
  int overflow = 0;
  const long long out = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  if (overflow != 0)
    raise(Raised::kInvalid, "[{}] expected {} as an integer of 64 bits, got {}", place.function,
          place.argument, shown(value));
  return out;
}

template <class T>
std::vector<T> elements(Place place, nb::handle value, const char* expected) {
  std::vector<T> out;
  if (!is_sequence(value)) refuse(place, expected, value);
  for (nb::handle element : nb::borrow<nb::sequence>(value)) out.push_back(from<T>(place, element));
  return out;
}

/// dtypes by the names of NumPy, in the order of Tenon's.
constexpr std::array kDTypes = {
    std::pair{"bool", DType::kBool},         std::pair{"int8", DType::kI8},
    std::pair{"int16", DType::kI16},         std::pair{"int32", DType::kI32},
    std::pair{"int64", DType::kI64},         std::pair{"uint8", DType::kU8},
    std::pair{"uint16", DType::kU16},        std::pair{"uint32", DType::kU32},
    std::pair{"uint64", DType::kU64},        std::pair{"float16", DType::kF16},
    std::pair{"bfloat16", DType::kBF16},     std::pair{"float32", DType::kF32},
    std::pair{"float64", DType::kF64},       std::pair{"float8_e4m3fn", DType::kF8E4M3},
    std::pair{"float8_e5m2", DType::kF8E5M2}};

}  // namespace

std::span<const std::pair<const char*, DType>> python_dtypes() { return kDTypes; }

const char* python_name(DType dtype) {
  for (const auto& [name, each] : kDTypes)
    if (each == dtype) return name;
  return "void";
}

void refuse(Place place, const char* expected, nb::handle got) {
  raise(Raised::kArgument, "[{}] expected {} as {}, got {}", place.function, place.argument,
        expected, shown(got));
}

size_t from_words(Place place, nb::handle value, std::initializer_list<const char*> words) {
  std::string all;
  if (nb::isinstance<nb::str>(value)) {
    const auto word = nb::cast<std::string>(value);
    size_t at = 0;
    for (const char* each : words) {
      if (word == each) return at;
      ++at;
    }
  }
  for (const char* each : words) all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", each);
  if (nb::isinstance<nb::str>(value))
    raise(Raised::kInvalid, "[{}] expected {} as one of {}, got {}", place.function, place.argument,
          all, shown(value));
  refuse(place, ("one of " + all).c_str(), value);
}

Tensor* tensor_in(nb::handle value) {
  static const nb::handle type = nb::type<Tensor>();
  if (Py_TYPE(value.ptr()) != reinterpret_cast<PyTypeObject*>(type.ptr()) &&
      !PyObject_TypeCheck(value.ptr(), reinterpret_cast<PyTypeObject*>(type.ptr())))
    return nullptr;
  return nb::inst_ready(value) ? nb::inst_ptr<Tensor>(value) : nullptr;
}

std::optional<Number> as_number(Place place, nb::handle value) {
  PyObject* const p = value.ptr();
  if (PyBool_Check(p)) return Number(p == Py_True);
  // numpy.float64 is one too, and a tensor of its dtype.
  if (PyFloat_CheckExact(p) || (PyFloat_Check(p) && !PyObject_CheckBuffer(p)))
    return Number(PyFloat_AS_DOUBLE(p));
  if (!PyLong_Check(p)) return {};
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(p, &overflow);
  if (overflow == 0) return Number(int64_t{small});
  const unsigned long long large = PyLong_AsUnsignedLongLong(p);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    raise(Raised::kInvalid, "[{}] expected {} as a number of 64 bits, got {}", place.function,
          place.argument, shown(value));
  }
  return Number(uint64_t{large});
}

std::optional<Tensor> as_tensor(nb::handle value) {
  if (const Tensor* x = tensor_in(value)) return *x;
  if (const auto number = as_number({"tensor", "a number"}, value)) return Tensor(*number);
  return tensor_of_array(value);
}

template <>
Tensor from(Place place, nb::handle value) {
  if (const Tensor* x = tensor_in(value)) return *x;
  std::optional<Tensor> out;
  if (const auto number = as_number(place, value))
    out = Tensor(*number);
  else
    out = tensor_of_array(value);
  if (!out) refuse(place, "a tensor, a number or an array", value);
  return *std::move(out);
}

template <>
std::vector<Tensor> from(Place place, nb::handle value) {
  return elements<Tensor>(place, value, "a list of tensors");
}

template <>
int64_t from(Place place, nb::handle value) {
  const auto out = as_integer(place, value);
  if (!out) refuse(place, "an integer", value);
  return *out;
}

template <>
uint64_t from(Place place, nb::handle value) {
  const auto out = from<int64_t>(place, value);
  if (out < 0)
    raise(Raised::kInvalid, "[{}] expected {} as an integer of at least 0, got {}", place.function,
          place.argument, out);
  return static_cast<uint64_t>(out);
}

template <>
int from(Place place, nb::handle value) {
  const auto out = from<int64_t>(place, value);
  if (!std::in_range<int>(out))
    raise(Raised::kInvalid, "[{}] expected {} as an integer of 32 bits, got {}", place.function,
          place.argument, out);
  return static_cast<int>(out);
}

template <>
std::vector<int64_t> from(Place place, nb::handle value) {
  if (const auto one = as_integer(place, value)) return {*one};
  return elements<int64_t>(place, value, "an integer or a tuple of integers");
}

template <>
Axes from(Place place, nb::handle value) {
  if (as_integer(place, value)) return Axes(from<int>(place, value));
  return elements<int>(place, value, "an integer or a tuple of integers");
}

bool is_no_axis(nb::handle value) { return is_sequence(value) && nb::len(value) == 0; }

template <>
Axes from_or(Place place, nb::handle value, Axes otherwise) {
  if (value.is_none()) return otherwise;
  Axes out = from<Axes>(place, value);
  if (out.empty() && std::string_view(place.argument) == "axis")
    raise(Raised::kInvalid, "[{}] expected axes, or None for all, got ()", place.function);
  return out;
}

template <>
bool from(Place place, nb::handle value) {
  if (PyBool_Check(value.ptr())) return value.ptr() == Py_True;
  if (const std::string_view type = Py_TYPE(value.ptr())->tp_name;
      type == "numpy.bool" || type == "numpy.bool_")
    return PyObject_IsTrue(value.ptr()) == 1;
  refuse(place, "a bool", value);
}

template <>
double from(Place place, nb::handle value) {
  PyObject* const p = value.ptr();
  if (!PyBool_Check(p) &&
      (PyFloat_Check(p) || PyLong_Check(p) ||
       (!tensor_in(value) && Py_TYPE(p)->tp_as_number && Py_TYPE(p)->tp_as_number->nb_float))) {
    const double out = PyFloat_AsDouble(p);
    if (out == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      refuse(place, "a number", value);
    }
    return out;
  }
  refuse(place, "a number", value);
}

template <>
std::vector<double> from(Place place, nb::handle value) {
  return elements<double>(place, value, "a list of numbers");
}

template <>
Number from(Place place, nb::handle value) {
  if (auto out = as_number(place, value)) return *out;
  if (const auto whole = as_integer(place, value)) return Number(*whole);
  return Number(from<double>(place, value));
}

template <>
std::string from(Place place, nb::handle value) {
  if (!nb::isinstance<nb::str>(value)) refuse(place, "a string", value);
  return nb::cast<std::string>(value);
}

template <>
Size from(Place place, nb::handle value) {
  if (nb::isinstance<Size>(value)) return nb::cast<Size>(value);
  return from<int64_t>(place, value);
}

template <>
Sizes from(Place place, nb::handle value) {
  constexpr auto kExpected = "an integer or a tuple of integers";
  if (is_sequence(value)) return elements<Size>(place, value, kExpected);
  if (nb::isinstance<Size>(value)) return {nb::cast<Size>(value)};
  if (const auto one = as_integer(place, value)) return {Size(*one)};
  refuse(place, kExpected, value);
}

template <>
PadWidths from(Place place, nb::handle value) {
  constexpr auto kExpected = "a list of pairs of integers";
  std::vector<PadWidths::Pair> out;
  if (!is_sequence(value)) refuse(place, kExpected, value);
  for (nb::handle pair : nb::borrow<nb::sequence>(value)) {
    if (!is_sequence(pair) || nb::len(pair) != 2) refuse(place, kExpected, value);
    out.emplace_back(from<Size>(place, pair[0]), from<Size>(place, pair[1]));
  }
  return out;
}

template <>
DType from(Place place, nb::handle value) {
  if (nb::isinstance<DType>(value)) return nb::cast<DType>(value);
  constexpr auto kExpected = "a dtype, as tenon.float32 or \"float32\"";
  PyObject* const p = value.ptr();
  if (p == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::kBool;
  if (p == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::kI64;
  if (p == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::kF32;
  std::string name;
  if (nb::isinstance<nb::str>(value)) {
    name = nb::cast<std::string>(value);
  } else {
    // numpy.dtype has `name`, numpy.float32 and ml_dtypes.bfloat16 `__name__`; torch's are texts.
    for (const char* attribute : {"name", "__name__"})
      if (name.empty() && nb::hasattr(value, attribute))
        if (const nb::object text = value.attr(attribute); nb::isinstance<nb::str>(text))
          name = nb::cast<std::string>(text);
    if (name.empty()) name = nb::cast<std::string>(nb::str(value));
    if (name.starts_with("torch.")) name = name.substr(6);
    if (name == "bool_") name = "bool";
  }
  for (const auto& [each, dtype] : kDTypes)
    if (name == each) return dtype;
  if (const auto dtype = dtype_from_name(name); dtype && nb::isinstance<nb::str>(value))
    return *dtype;
  refuse(place, kExpected, value);
}

template <>
Key from(Place place, nb::handle value) {
  if (!nb::isinstance<Key>(value)) refuse(place, "a tenon.random.Key", value);
  return nb::cast<Key>(value);
}

template <>
ComplexPair from(Place place, nb::handle value) {
  if (!is_sequence(value) || nb::len(value) != 2)
    refuse(place, "a pair of tensors, of real and imaginary parts", value);
  return {from<Tensor>(place, value[0]), from<Tensor>(place, value[1])};
}

namespace {

std::optional<Size> bound(nb::handle value) {
  if (value.is_none()) return {};
  return from<Size>({"getitem", "the end of a slice"}, value);
}

Slice from_slice(const Tensor& x, size_t axis, nb::handle value) {
  const nb::object begin = value.attr("start"), end = value.attr("stop"), step = value.attr("step");
  const Sizes sizes = x.sizes();
  const bool is_fixed = axis < sizes.size() && sizes[axis].is_fixed() &&
                        !nb::isinstance<Size>(begin) && !nb::isinstance<Size>(end);
  if (!is_fixed) {
    Slice out{bound(begin), bound(end)};
    if (!step.is_none()) out.step = from<int64_t>({"getitem", "the step of a slice"}, step);
    return out;
  }
  Py_ssize_t from_at = 0, to = 0, by = 0;
  if (PySlice_Unpack(value.ptr(), &from_at, &to, &by) < 0) {
    PyErr_Clear();
    if (const auto number = step.is_none() ? std::nullopt : as_integer({"", ""}, step);
        number && *number == 0)
      raise(Raised::kInvalid, "[getitem] expected a step that is not 0 in a slice, got 0");
    refuse({"getitem", "the ends and the step of a slice"}, "integers", value);
  }
  const Py_ssize_t count = PySlice_AdjustIndices(sizes[axis].value(), &from_at, &to, by);
  if (count == 0) return {Size(0), Size(0), 1};
  Slice out{Size(int64_t{from_at}), {}, by};
  if (to >= 0) out.end = Size(int64_t{to});
  return out;
}

/// How many axes of x an index takes.
size_t axes_of(const Index::Value& value) {
  if (const auto* at = std::get_if<Tensor>(&value))
    return at->dtype() == DType::kBool ? static_cast<size_t>(at->rank()) : 1;
  return std::holds_alternative<int64_t>(value) || std::holds_alternative<Slice>(value) ? 1 : 0;
}

/// Numbers in lists, as an index.
std::optional<Tensor> from_list(nb::handle value) {
  if (!PyList_Check(value.ptr())) return {};
  return tensor_of_list({"getitem", "an index"}, value, {});
}

/// A mask of the sizes of its axes; NumPy takes 0 for any of them, and then nothing.
Tensor fitting_mask(const Tensor& x, size_t axis, Tensor mask) {
  const Sizes sizes = x.sizes(), given = mask.sizes();
  std::vector<int64_t> expected;
  bool is_same = true;
  for (size_t i = 0; i < given.size(); ++i) {
    if (axis + i >= sizes.size())
      raise(Raised::kRange, "[getitem] expected a mask of at most {} axes, got one of {}",
            sizes.size(), axis + given.size());
    const Size &size = sizes[axis + i], &own = given[i];
    if (!size.is_fixed() || !own.is_fixed()) return mask;
    if (own.value() != size.value() && own.value() != 0)
      raise(Raised::kRange, "[getitem] expected a mask of {} elements on axis {}, got {}",
            size.value(), axis + i, own.value());
    is_same = is_same && own.value() == size.value();
    expected.push_back(size.value());
  }
  return is_same ? mask : full(Sizes(expected), false, DType::kBool);
}

Index from_index(const Tensor& x, size_t axis, nb::handle value) {
  PyObject* const p = value.ptr();
  if (value.is_none()) return new_axis;
  if (p == Py_Ellipsis) return ellipsis;
  if (PySlice_Check(p)) return from_slice(x, axis, value);
  if (PyBool_Check(p)) refuse({"getitem", "an index"}, "a bool by itself, or none", value);
  if (const Tensor* at = tensor_in(value))
    return at->dtype() == DType::kBool ? fitting_mask(x, axis, *at) : *at;
  if (const auto at = as_integer({"getitem", "an index"}, value)) {
    const Sizes sizes = x.sizes();
    if (axis < sizes.size() && sizes[axis].is_fixed())
      if (const int64_t size = sizes[axis].value(); *at >= size || *at < -size)
        raise(Raised::kRange, "[getitem] expected an index from {} to {} on axis {}, got {}", -size,
              size - 1, axis, *at);
    return *at;
  }
  std::optional<Tensor> at = from_list(value);
  if (!at) at = tensor_of_array(value);
  if (!at)
    refuse({"getitem", "an index"},
           "an integer, a slice, None, ..., or an array of integers or bools", value);
  return at->dtype() == DType::kBool ? fitting_mask(x, axis, *at) : *std::move(at);
}

}  // namespace

std::vector<Index> from_brackets(const Tensor& x, nb::handle brackets) {
  std::vector<Index> out;
  const auto rank = static_cast<size_t>(x.rank());
  size_t axis = 0;
  const auto add = [&](nb::handle value, size_t left) {
    out.push_back(from_index(x, axis, value));
    const Index::Value& added = out.back().value();
    if (std::holds_alternative<Ellipsis>(added))
      axis = rank - std::min(left, rank);
    else
      axis += axes_of(added);
  };
  const auto check_rank = [&] {
    if (axis > rank)
      raise(Raised::kRange, "[getitem] expected indices of at most {} axes, got {}", rank, axis);
  };
  if (!PyTuple_Check(brackets.ptr())) {
    add(brackets, 0);
    check_rank();
    return out;
  }
  const size_t count = nb::len(brackets);
  for (size_t i = 0; i < count; ++i) {
    const nb::object value = brackets[i];
    size_t left = 0;  // axes that what stands after an ellipsis takes
    if (value.ptr() == Py_Ellipsis) {
      for (size_t after = i + 1; after < count; ++after) {
        const nb::object one = brackets[after];
        if (one.ptr() == Py_Ellipsis || one.is_none()) continue;
        left += axes_of(from_index(x, rank, one).value());
      }
    }
    add(value, left);
  }
  check_rank();
  return out;
}

nb::object to_python(Tensor x) { return nb::cast(std::move(x)); }

nb::object to_python(std::vector<Tensor> x) {
  nb::list out;
  for (Tensor& each : x) out.append(to_python(std::move(each)));
  return out;
}

nb::object named_tuple(const char* name, const char* fields, std::vector<Tensor> values) {
  static nb::dict& types = *new nb::dict();
  if (!types.contains(name)) {
    nb::object type = nb::module_::import_("collections").attr("namedtuple")(name, fields);
    type.attr("__module__") = "tenon";
    types[name] = type;
  }
  nb::list list;
  for (Tensor& each : values) list.append(to_python(std::move(each)));
  return types[name].attr("_make")(list);
}

}  // namespace tenon::python
