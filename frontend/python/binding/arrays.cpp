// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/python/binding/arrays.hpp"

#include <bit>
#include <cstring>
#include <string_view>

#include "frontend/python/binding/errors.hpp"
#include "frontend/python/binding/gil.hpp"
#include "tenon/make.hpp"
#include "tenon/move.hpp"

namespace tenon::python {
namespace {

static_assert(std::endian::native == std::endian::little);

/// A view of an object's memory, row-major.
class View {
 public:
  explicit View(nb::handle value) {
    held_ = PyObject_GetBuffer(value.ptr(), &view_, PyBUF_FULL_RO) == 0;
    if (!held_) PyErr_Clear();
  }
  ~View() {
    if (held_) PyBuffer_Release(&view_);
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  explicit operator bool() const { return held_; }
  std::vector<int64_t> shape() const { return {view_.shape, view_.shape + view_.ndim}; }

  DType dtype() const {
    std::string_view format = view_.format ? view_.format : "B";
    const std::string whole(format);
    bool is_swapped = false;
    if (!format.empty() && std::string_view("@=<>!").find(format[0]) != std::string_view::npos) {
      is_swapped = (format[0] == '>' || format[0] == '!') && view_.itemsize > 1;
      format.remove_prefix(1);
    }
    DType out = DType::kVoid;
    if (format.size() == 1) {
      const bool is_signed = std::string_view("bhilqn").find(format[0]) != std::string_view::npos;
      const bool is_whole =
          std::string_view("bBhHiIlLqQnN").find(format[0]) != std::string_view::npos;
      if (format[0] == '?') out = DType::kBool;
      if (format[0] == 'e') out = DType::kF16;
      if (format[0] == 'f') out = DType::kF32;
      if (format[0] == 'd') out = DType::kF64;
      if (is_whole) {
        constexpr DType kSigned[] = {DType::kI8, DType::kI16, DType::kI32, DType::kI64};
        constexpr DType kUnsigned[] = {DType::kU8, DType::kU16, DType::kU32, DType::kU64};
        const int log = std::countr_zero(static_cast<unsigned>(view_.itemsize));
        if (log < 4) out = is_signed ? kSigned[log] : kUnsigned[log];
      }
    }
    if (out == DType::kVoid || is_swapped)
      raise(Raised::kArgument,
            "[asarray] expected an array of bools, integers or floats in this machine's order of "
            "bytes, got the format '{}'",
            whole);
    return out;
  }

  std::vector<std::byte> bytes() const {
    std::vector<std::byte> out(static_cast<size_t>(view_.len));
    if (PyBuffer_ToContiguous(out.data(), &view_, view_.len, 'C') != 0) throw nb::python_error();
    return out;
  }
  /// Where they lie, if they lie row-major.
  std::optional<std::span<const std::byte>> in_place() const {
    if (!PyBuffer_IsContiguous(&view_, 'C')) return {};
    return std::span(static_cast<const std::byte*>(view_.buf), static_cast<size_t>(view_.len));
  }

 private:
  mutable Py_buffer view_{};
  bool held_ = false;
};

/// The dtype of an array whose buffer has no format for it, by its name; kVoid for all others.
DType extended_dtype(nb::handle value) {
  if (!nb::hasattr(value, "dtype")) return DType::kVoid;
  const nb::object dtype = value.attr("dtype");
  if (!nb::hasattr(dtype, "name")) return DType::kVoid;
  const nb::object name = dtype.attr("name");
  if (!nb::isinstance<nb::str>(name)) return DType::kVoid;
  const auto text = nb::cast<std::string>(name);
  for (const DType each : {DType::kBF16, DType::kF8E4M3, DType::kF8E5M2})
    if (text == python_name(each)) return each;
  return DType::kVoid;
}

/// A number in a dtype. As in NumPy, one too large for a float is infinite.
Scalar scalar_of(Place place, const Number& number, DType dtype) {
  if (!is_float(dtype) || !number.is_float()) return number.as(place.function, dtype);
  return Scalar::of(dtype, number.as(place.function, DType::kF64).as_double());
}

class ListReader {
 public:
  ListReader(Place place, std::optional<DType> dtype) : place_(place), dtype_(dtype) {}

  Tensor read(nb::handle list) {
    measure(list, 0);
    if (has_tensors_) return stacked(list, 0);
    for (const int64_t size : shape_) count_ *= static_cast<size_t>(size);
    values_.reserve(count_);
    collect(list, 0);
    const DType dtype = dtype_.value_or(inferred());
    const size_t size = dtype_size(dtype);
    std::vector<std::byte> bytes(values_.size() * size);
    for (size_t i = 0; i < values_.size(); ++i) {
      const uint64_t bits = scalar_of(place_, values_[i], dtype).bits;
      std::memcpy(bytes.data() + i * size, &bits, size);
    }
    return tensor(std::span<const std::byte>(bytes), dtype, shape_);
  }

 private:
  static bool is_list(nb::handle value) {
    return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
  }

  /// The sizes along the first elements.
  void measure(nb::handle value, size_t depth) {
    if (!is_list(value)) {
      look_at(value);
      return;
    }
    if (depth >= kMostAxes)
      raise(Raised::kInvalid, "[{}] expected lists in at most {} levels, got more", place_.function,
            kMostAxes);
    shape_.push_back(static_cast<int64_t>(nb::len(value)));
    if (nb::len(value) > 0) measure(value[0], depth + 1);
  }

  void look_at(nb::handle value) {
    if (!as_number(place_, value)) has_tensors_ = true;
  }

  void collect(nb::handle value, size_t depth) {
    const bool is_leaf = depth == shape_.size();
    if (is_list(value) == is_leaf ||
        (!is_leaf && static_cast<int64_t>(nb::len(value)) != shape_[depth]))
      ragged(value, depth);
    if (!is_leaf) {
      for (size_t i = 0, size = nb::len(value); i < size; ++i) collect(value[i], depth + 1);
      return;
    }
    if (const auto number = as_number(place_, value)) {
      values_.push_back(*number);
      return;
    }
    const std::optional<Tensor> x = as_tensor(value);
    if (!x || x->rank() != 0) refuse(place_, "a list of numbers", value);
    const Scalar scalar = x->to_array().at(0);
    if (is_float(scalar.dtype))
      values_.push_back(scalar.as_double());
    else if (scalar.dtype == DType::kBool)
      values_.push_back(!scalar.is_zero());
    else if (is_signed(scalar.dtype))
      values_.push_back(scalar.as_int());
    else
      values_.push_back(static_cast<uint64_t>(scalar.as_int()));
  }

  [[noreturn]] void ragged(nb::handle value, size_t depth) {
    const std::string got =
        is_list(value) ? fmt::format("{} elements", nb::len(value)) : std::string("no list");
    if (depth == shape_.size())
      raise(Raised::kInvalid, "[{}] expected a number at level {} of the lists, got {}",
            place_.function, depth, got);
    raise(Raised::kInvalid, "[{}] expected {} elements in each list of level {}, got {}",
          place_.function, shape_[depth], depth, got);
  }

  /// Lists that hold tensors or arrays.
  Tensor stacked(nb::handle value, size_t depth) {
    if (!is_list(value)) {
      const Tensor out = from<Tensor>(place_, value);
      return dtype_ ? out.astype(*dtype_) : out;
    }
    std::vector<Tensor> rows;
    for (size_t i = 0, size = nb::len(value); i < size; ++i)
      rows.push_back(stacked(value[i], depth + 1));
    return stack(rows);
  }

  DType inferred() const {
    bool has_float = false, has_int = false, has_large = false;
    for (const Number& value : values_) {
      const DType dtype = value.dtype();
      has_float |= value.is_float();
      has_int |= dtype != DType::kBool && !value.is_float();
      has_large |= dtype == DType::kU64 && !value.in(DType::kI64);
    }
    if (has_float || values_.empty()) return DType::kF32;
    if (!has_int) return DType::kBool;
    return has_large ? DType::kU64 : DType::kI64;
  }

  static constexpr size_t kMostAxes = 64;
  Place place_;
  std::optional<DType> dtype_;
  std::vector<int64_t> shape_;
  size_t count_ = 1;
  bool has_tensors_ = false;
  std::vector<Number> values_;
};

/// Nested lists of the elements of an array from `at` on.
nb::object to_list(const Array& array, size_t axis, int64_t& at) {
  if (axis == array.shape.size()) return to_scalar(array.at(at++));
  nb::list out;
  for (int64_t i = 0; i < array.shape[axis]; ++i) out.append(to_list(array, axis + 1, at));
  return out;
}

/// A numpy array of the tensor's shape and dtype, with its elements.
nb::object to_numpy(const Tensor& x) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const DType dtype = x.dtype();
  nb::object of;
  if (dtype == DType::kBF16 || is_small_float(dtype))
    of = nb::module_::import_("ml_dtypes").attr(python_name(dtype));
  else
    of = nb::str(python_name(dtype));
  std::vector<int64_t> shape;
  {
    const GilRelease free;
    shape = x.shape();
  }
  nb::list sizes;
  for (const int64_t size : shape) sizes.append(size);
  nb::object out = numpy.attr("empty")(nb::tuple(sizes), of);
  const auto address = nb::cast<uintptr_t>(out.attr("ctypes").attr("data"));
  const auto count = nb::cast<size_t>(out.attr("nbytes"));
  const GilRelease free;
  x.read(std::span(reinterpret_cast<std::byte*>(address), count));
  return out;
}

}  // namespace

nb::object to_scalar(const Scalar& scalar) {
  if (scalar.dtype == DType::kBool) return nb::bool_(!scalar.is_zero());
  if (is_float(scalar.dtype)) return nb::float_(scalar.as_double());
  if (is_signed(scalar.dtype)) return nb::int_(scalar.as_int());
  return nb::int_(static_cast<uint64_t>(scalar.as_int()));
}

nb::object to_list(const Array& array) {
  int64_t at = 0;
  return to_list(array, 0, at);
}

namespace {

/// Of what has DLPack alone, a copy.
std::optional<Tensor> tensor_of_exporter(nb::handle value) {
  if (PyType_Check(value.ptr()) || !nb::hasattr(value, "__dlpack__")) return {};
  const nb::object from = nb::module_::import_("tenon").attr("from_dlpack");
  return *tensor_in(from(value, nb::arg("copy") = true));
}

}  // namespace

std::optional<Tensor> tensor_of_array(nb::handle value) {
  if (PyBytes_Check(value.ptr()) || PyUnicode_Check(value.ptr())) return {};
  if (const DType dtype = extended_dtype(value); dtype != DType::kVoid) {
    const nb::object bits = value.attr("view")(dtype == DType::kBF16 ? "uint16" : "uint8");
    const View view(bits);
    if (!view) return {};
    return tensor(std::span<const std::byte>(view.bytes()), dtype, view.shape());
  }
  const View view(value);
  if (!view) return tensor_of_exporter(value);
  const DType dtype = view.dtype();
  if (const auto bytes = view.in_place()) return tensor(*bytes, dtype, view.shape());
  return tensor(std::span<const std::byte>(view.bytes()), dtype, view.shape());
}

Tensor tensor_of_list(Place place, nb::handle value, std::optional<DType> dtype) {
  return ListReader(place, dtype).read(value);
}

void add_arrays(nb::module_& m) {
  auto dtypes = nb::enum_<DType>(m, "DType", "The dtypes of tensors, by NumPy's names.");
  for (const auto& [name, dtype] : python_dtypes()) dtypes.value(name, dtype);
  m.def(
      "_asarray",
      [](nb::handle value, nb::handle dtype) {
        constexpr Place kPlace{"asarray", "an object"};
        const auto as = from_optional<DType>({"asarray", "dtype"}, dtype);
        if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()))
          return tensor_of_list(kPlace, value, as);
        if (const auto number = as_number(kPlace, value)) {
          const DType own = as.value_or(number->dtype());
          const Scalar scalar = scalar_of(kPlace, *number, own);
          std::byte bytes[sizeof scalar.bits];
          std::memcpy(bytes, &scalar.bits, sizeof bytes);
          return tensor(std::span<const std::byte>(bytes, dtype_size(own)), own, {});
        }
        const auto x = from<Tensor>(kPlace, value);
        return as ? x.astype(*as) : x;
      },
      nb::arg("value"), nb::arg("dtype").none());
  m.def("_to_bytes", [](nb::handle value) {
    const auto x = from<Tensor>({"bytes", "x"}, value);
    const Array array = without_gil([&] { return x.to_array(); });
    return nb::bytes(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  });
  m.def("_from_bytes", [](const nb::bytes& bytes, nb::handle dtype, nb::handle shape) {
    const auto data = std::as_bytes(std::span(bytes.c_str(), bytes.size()));
    return tensor(data, from<DType>({"from_bytes", "dtype"}, dtype),
                  from<std::vector<int64_t>>({"from_bytes", "shape"}, shape));
  });
  m.def("_to_numpy", [](nb::handle x) { return to_numpy(from<Tensor>({"numpy", "x"}, x)); });
}

}  // namespace tenon::python
