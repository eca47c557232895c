// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Capsules of DLPack and buffers of Python: arrays of others and tensors, without a copy.
#pragma once

#include <nanobind/nanobind.h>

#include "tenon/tensor.hpp"

namespace tenon::python {

namespace nb = nanobind;

/// For the class Tensor: the buffer protocol, read-only.
PyType_Slot* buffer_slots();

void add_dlpack(nb::module_& m, nb::class_<Tensor>& c);

}  // namespace tenon::python
