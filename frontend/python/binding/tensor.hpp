// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nanobind/nanobind.h>

#include "tenon/tensor.hpp"

namespace tenon::python {

namespace nb = nanobind;

/// The class but for its functions, which are generated.
void add_tensor(nb::class_<Tensor>& c);

}  // namespace tenon::python
