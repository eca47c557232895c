// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/python/binding/errors.hpp"

#include <array>
#include <exception>

#include "tenon/axes.hpp"
#include "tenon/error.hpp"

namespace tenon::python {
namespace {

struct Row {
  Raised kind;
  const char* name;
  PyObject* const* base;
  const char* doc;
};
const std::array kRows = {
    Row{Raised::kInvalid, "InvalidError", &PyExc_ValueError,
        "The caller's mistake: a shape, a dtype, a text, an option, what a file holds."},
    Row{Raised::kArgument, "ArgumentError", &PyExc_TypeError,
        "An argument of a type that the function does not take."},
    Row{Raised::kRange, "RangeError", &PyExc_IndexError, "An index outside of its axis."},
    Row{Raised::kUnsupported, "UnsupportedError", &PyExc_RuntimeError,
        "A legal request that no chosen device can serve."},
    Row{Raised::kEnvironment, "EnvironmentError", &PyExc_RuntimeError,
        "A plugin, a driver, a file or a permission that is missing."},
    Row{Raised::kMemory, "OutOfMemoryError", &PyExc_RuntimeError,
        "Memory that the host or a device does not have."},
    Row{Raised::kLost, "DeviceLostError", &PyExc_RuntimeError, "A device that failed for good."},
    Row{Raised::kBug, "InternalError", &PyExc_RuntimeError, "A fault in Tenon or in a plugin."},
};
std::array<PyObject*, kRows.size()> classes{};

Raised raised_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
      return Raised::kInvalid;
    case ErrorKind::kUnsupported:
      return Raised::kUnsupported;
    case ErrorKind::kEnvironment:
      return Raised::kEnvironment;
    case ErrorKind::kOutOfMemory:
      return Raised::kMemory;
    case ErrorKind::kDeviceLost:
      return Raised::kLost;
    case ErrorKind::kInternal:
      break;
  }
  return Raised::kBug;
}

PyObject* axis_error = nullptr;  ///< both an InvalidError and a RangeError, as NumPy's is

void set_error(PyObject* type, const std::string& text) {
  // Text of files and plugins may be no UTF-8.
  const nb::object message = nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
  PyErr_SetObject(type, message.ptr());
}

void set(Raised kind, const std::string& text) {
  set_error(classes[static_cast<size_t>(kind)], text);
}

}  // namespace

void add_errors(nb::module_& m) {
  PyObject* const base = PyErr_NewExceptionWithDoc("tenon.Error", "What every function raises.",
                                                   PyExc_Exception, nullptr);
  m.attr("Error") = nb::steal(base);
  for (size_t i = 0; i < kRows.size(); ++i) {
    const nb::tuple bases = nb::make_tuple(nb::borrow(base), nb::borrow(*kRows[i].base));
    const std::string name = std::string("tenon.") + kRows[i].name;
    classes[i] = PyErr_NewExceptionWithDoc(name.c_str(), kRows[i].doc, bases.ptr(), nullptr);
    m.attr(kRows[i].name) = nb::borrow(classes[i]);
  }
  const auto of = [](Raised kind) { return nb::borrow(classes[static_cast<size_t>(kind)]); };
  const nb::tuple both = nb::make_tuple(of(Raised::kInvalid), of(Raised::kRange));
  axis_error = PyErr_NewExceptionWithDoc("tenon.AxisError", "An axis that is not there.",
                                         both.ptr(), nullptr);
  m.attr("AxisError") = nb::borrow(axis_error);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const AxisError& error) {
      set_error(axis_error, error.what());
    } catch (const Error& error) {
      set(raised_of(error.kind()), error.what());
    }
  });
}

void raise_text(Raised kind, const std::string& text) {
  set(kind, text);
  throw nb::python_error();
}

}  // namespace tenon::python
