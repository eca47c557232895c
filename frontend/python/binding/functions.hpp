// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What generate.py makes.
#pragma once

#include <nanobind/nanobind.h>

#include "tenon/tensor.hpp"

namespace tenon::python {

namespace nb = nanobind;

/// All functions of tensors, in m and submodules of it, and as members of the class.
void add_functions(nb::module_& m, nb::class_<Tensor>& c);

}  // namespace tenon::python
