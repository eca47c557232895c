// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/python/binding/dlpack.hpp"

#include <fmt/format.h>

#include <memory>

#include "frontend/python/binding/arguments.hpp"
#include "frontend/python/binding/errors.hpp"
#include "frontend/tensor/dlpack_abi.hpp"
#include "tenon/dlpack.hpp"
#include "tenon/error.hpp"

namespace tenon::python {
namespace {

constexpr const char* kVersioned = "dltensor_versioned";
constexpr const char* kUnversioned = "dltensor";
constexpr const char* kUsedVersioned = "used_dltensor_versioned";
constexpr const char* kUsedUnversioned = "used_dltensor";

[[noreturn]] void raise_buffer_error(const std::string& text) {
  PyErr_SetString(PyExc_BufferError, text.c_str());
  throw nb::python_error();
}

/// f(), whose refusal to share memory is a BufferError, as the protocol wants it.
template <class F>
auto sharing(const F& f) {
  std::string refusal;
  try {
    return without_gil(f);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    refusal = error.what();
  }
  raise_buffer_error(refusal);
}

Copying copying_of(const char* function, nb::handle copy) {
  if (copy.is_none()) return Copying::kAllowed;
  return from<bool>({function, "copy"}, copy) ? Copying::kAlways : Copying::kNever;
}

/// A capsule that nobody took lets go of what it has.
template <class M>
void drop(PyObject* capsule) {
  const char* const name = std::is_same_v<M, dlpack::Managed> ? kVersioned : kUnversioned;
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* const managed = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  if (managed && managed->deleter) managed->deleter(managed);
}

nb::object export_capsule(const Tensor& x, nb::handle stream, nb::handle max_version,
                          nb::handle dl_device, nb::handle copy) {
  if (!stream.is_none())
    raise_buffer_error("[__dlpack__] expected stream=None, as the memory is the host's");
  if (!dl_device.is_none()) {
    const auto device = from<std::vector<int64_t>>({"__dlpack__", "dl_device"}, dl_device);
    if (device != std::vector<int64_t>{dlpack::kHost, 0})
      raise_buffer_error("[__dlpack__] expected the device (1, 0), the host, got another");
  }
  const Copying copying = copying_of("__dlpack__", copy);
  const bool is_versioned =
      !max_version.is_none() &&
      from<std::vector<int64_t>>({"__dlpack__", "max_version"}, max_version).at(0) >= 1;
  if (is_versioned) {
    auto* const made = sharing([&] { return to_dlpack(x, copying); });
    return nb::steal(PyCapsule_New(made, kVersioned, drop<dlpack::Managed>));
  }
  if (copying == Copying::kNever)
    raise_buffer_error(
        "[__dlpack__] expected max_version=(1, 0) and more where copy=False, as older "
        "versions cannot say that memory is only to be read");
  auto* const made = sharing([&] { return to_unversioned_dlpack(x); });
  return nb::steal(PyCapsule_New(made, kUnversioned, drop<dlpack::Unversioned>));
}

nb::tuple export_device(const Tensor& x) {
  // What the host does not see is not offered.
  auto* const managed =
      reinterpret_cast<dlpack::Managed*>(sharing([&] { return to_dlpack(x, Copying::kAllowed); }));
  const auto type = managed->tensor.device_type;
  managed->deleter(managed);
  return nb::make_tuple(static_cast<int>(type), 0);
}

Tensor import_capsule(nb::handle capsule, nb::handle copy) {
  const Copying copying = copying_of("from_dlpack", copy);
  PyObject* const p = capsule.ptr();
  if (!PyCapsule_CheckExact(p))
    refuse({"from_dlpack", "what __dlpack__ gives"}, "a capsule", capsule);
  const bool is_versioned = PyCapsule_IsValid(p, kVersioned);
  if (!is_versioned && !PyCapsule_IsValid(p, kUnversioned)) {
    const char* const name = PyCapsule_GetName(p);
    raise(Raised::kInvalid,
          "[from_dlpack] expected a capsule that was not used, of the name {} or {}, got {}",
          kVersioned, kUnversioned, name ? name : "none");
  }
  void* const managed = PyCapsule_GetPointer(p, is_versioned ? kVersioned : kUnversioned);
  Context& context = Context::standard();
  Tensor out = sharing([&] {
    return is_versioned
               ? from_dlpack(static_cast<DLManagedTensorVersioned*>(managed), context, copying)
               : from_dlpack(static_cast<DLManagedTensor*>(managed), context, copying);
  });
  PyCapsule_SetName(p, is_versioned ? kUsedVersioned : kUsedUnversioned);
  return out;
}

const char* format_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "?";
    case DType::kI8:
      return "b";
    case DType::kU8:
      return "B";
    case DType::kI16:
      return "h";
    case DType::kU16:
      return "H";
    case DType::kI32:
      return "i";
    case DType::kU32:
      return "I";
    case DType::kI64:
      return "q";
    case DType::kU64:
      return "Q";
    case DType::kF16:
      return "e";
    case DType::kF32:
      return "f";
    case DType::kF64:
      return "d";
    default:
      return nullptr;
  }
}

/// What a view of Python's keeps.
struct Held {
  dlpack::Managed* managed;
  std::vector<Py_ssize_t> shape, strides;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  try {
    const Tensor& x = *tensor_in(self);
    const char* const format = format_of(x.dtype());
    if (!format || (flags & PyBUF_WRITABLE)) {
      PyErr_SetString(PyExc_BufferError,
                      format
                          ? "[buffer] expected a view to read, as tensors are not written, got "
                            "one to write; numpy() gives a copy"
                          : "[buffer] expected a dtype that buffers have, got bfloat16 or float8");
      return -1;
    }
    auto held = std::make_unique<Held>();
    held->managed = reinterpret_cast<dlpack::Managed*>(
        sharing([&] { return to_dlpack(x, Copying::kAllowed); }));
    const dlpack::DlTensor& tensor = held->managed->tensor;
    const auto size = static_cast<Py_ssize_t>(dtype_size(x.dtype()));
    view->len = size;
    for (int32_t i = 0; i < tensor.ndim; ++i) {
      held->shape.push_back(tensor.shape[i]);
      held->strides.push_back(tensor.strides[i] * size);
      view->len *= tensor.shape[i];
    }
    static char nothing = 0;
    view->buf = tensor.data ? static_cast<char*>(tensor.data) + tensor.byte_offset : &nothing;
    view->readonly = 1;
    view->itemsize = size;
    view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
    view->ndim = tensor.ndim;
    view->shape = (flags & PyBUF_ND) ? held->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? held->strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = held.release();
  } catch (nb::python_error& error) {
    error.restore();
    return -1;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
    return -1;
  }
  Py_INCREF(self);
  view->obj = self;
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) {
  const std::unique_ptr<Held> held(static_cast<Held*>(view->internal));
  if (held) held->managed->deleter(held->managed);
}

}  // namespace

PyType_Slot* buffer_slots() {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                                {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                                {0, nullptr}};
  return slots;
}

void add_dlpack(nb::module_& m, nb::class_<Tensor>& c) {
  c.def("__dlpack__", export_capsule, nb::kw_only(), nb::arg("stream") = nb::none(),
        nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(),
        nb::arg("copy") = nb::none());
  c.def("__dlpack_device__", export_device);
  m.def("_from_capsule", import_capsule, nb::arg("capsule"), nb::arg("copy").none());
}

}  // namespace tenon::python
