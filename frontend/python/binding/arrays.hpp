// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of others, and nested lists, as tensors; tensors as arrays of others.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <span>
#include <utility>

#include "frontend/python/binding/arguments.hpp"
#include "tenon/tensor.hpp"

namespace tenon::python {

/// A copy of what has the buffer protocol or DLPack; nothing for what has neither. Raises for
/// dtypes that Tenon lacks.
std::optional<Tensor> tensor_of_array(nb::handle value);
/// Of numbers in nested lists or tuples, of one shape. Raises for ragged ones, and others' objects.
Tensor tensor_of_list(Place place, nb::handle value, std::optional<DType> dtype);

/// dtypes by their names in Python.
std::span<const std::pair<const char*, DType>> python_dtypes();
const char* python_name(DType dtype);

/// A Python number.
nb::object to_scalar(const Scalar& scalar);
/// Nested lists of Python numbers.
nb::object to_list(const Array& array);

void add_arrays(nb::module_& m);

}  // namespace tenon::python
