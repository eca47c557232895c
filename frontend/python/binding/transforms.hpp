// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of functions: compile, gradients, loops and branches.
#pragma once

#include <nanobind/nanobind.h>

namespace tenon::python {

void add_transforms(nanobind::module_& m);

}  // namespace tenon::python
