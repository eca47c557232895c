// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Python object that C++ holds, and may let go of on any thread, also as the process ends.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

namespace tenon::python {

namespace nb = nanobind;

inline bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030d0000
  return !Py_IsInitialized() || Py_IsFinalizing();
#else
  return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

/// Copies share it, without the GIL.
class PythonRef {
 public:
  explicit PythonRef(nb::object object)
      : shared_(new nb::object(std::move(object)), [](nb::object* held) {
          if (is_finalizing()) return;  // the interpreter is gone, and its memory with it
          const nb::gil_scoped_acquire lock;
          delete held;
        }) {}
  const nb::object& get() const { return *shared_; }

 private:
  std::shared_ptr<nb::object> shared_;
};

}  // namespace tenon::python
