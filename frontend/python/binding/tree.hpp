// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structures of tensors: lists, tuples, named tuples, dicts, dataclasses and modules, of any depth.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <vector>

#include "frontend/python/binding/gil.hpp"
#include "tenon/tensor.hpp"

namespace tenon::python {

namespace nb = nanobind;

/// What becomes of a leaf that is no tensor: a number, a text, a function; and of structure.
struct Leaves {
  std::vector<Tensor> tensors;
  std::vector<int64_t> key;  ///< of all else, if it was asked for
};

/// The numbers of objects that are equal, by which structures are told apart.
class Interned {
 public:
  int64_t number(nb::handle object);

 private:
  PythonRef numbers_{nb::dict()};
};

/// Tensors in order. `key`: null, or where the rest is told. A float is a tensor of one element
/// with `floats`. Raises ArgumentError for what has no number, as it has no hash.
Leaves leaves_of(nb::handle tree, bool floats, Interned* key);
/// The same after those that are there.
void add_leaves(nb::handle tree, bool floats, Interned* key, Leaves& out);

/// The same structure with f(tensor) in the place of each tensor, and of each float with `floats`.
/// Modules and dataclasses are copied, what they share too.
nb::object mapped(nb::handle tree, bool floats, const std::function<nb::object(nb::handle)>& f);

void add_trees(nb::module_& m);

}  // namespace tenon::python
