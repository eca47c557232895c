// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GIL, and a Python object that C++ holds and may let go of on any thread, also as the process
// ends.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

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

/// f(), which takes the GIL. As the process ends, Python up to 3.13 ends the thread in there, by
/// unwinding it through destructors, which would be the end of the process: it waits here for that,
/// as in 3.14.
template <class F>
auto taking_gil(const F& f) {
  try {
    return f();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

/// Other threads may run Python while one lives.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() {
    taking_gil([this] { PyEval_RestoreThread(state_); });
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// This thread may run Python while one lives.
class GilAcquire {
 public:
  GilAcquire() : state_(taking_gil([] { return PyGILState_Ensure(); })) {}
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

/// f(), while other threads run Python: f touches nothing of it.
template <class F>
auto without_gil(const F& f) {
  const GilRelease free;
  return f();
}

/// Copies share it, without the GIL.
class PythonRef {
 public:
  explicit PythonRef(nb::object object)
      : shared_(new nb::object(std::move(object)), [](nb::object* held) {
          if (is_finalizing()) return;  // the interpreter is gone, and its memory with it
          const GilAcquire lock;
          delete held;
        }) {}
  const nb::object& get() const { return *shared_; }

 private:
  std::shared_ptr<nb::object> shared_;
};

}  // namespace tenon::python
