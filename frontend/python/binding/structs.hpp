// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structs of C++ that hold tensors, as layers and the states of optimizers do, in structures.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <vector>

#include "tenon/nn/module.hpp"

namespace tenon::python {

namespace nb = nanobind;

struct StructKind {
  std::vector<nn::Named> (*tensors)(nb::handle);  ///< in order, those of the struct itself
  void (*fixed)(nb::handle, const std::function<void(int64_t)>&);  ///< its options
  nb::object (*copy)(nb::handle);
};

/// Null for what is no such struct.
const StructKind* struct_kind(nb::handle value);
void add_struct_kind(nb::handle type, const StructKind& kind);

template <class T>
void add_struct(const nb::class_<T>& type) {
  add_struct_kind(type, {[](nb::handle value) { return nn::tensors(*nb::inst_ptr<T>(value)); },
                         [](nb::handle value, const std::function<void(int64_t)>& on) {
                           compiled::visit(
                               *nb::inst_ptr<T>(value), [](Tensor&) {}, on);
                         },
                         [](nb::handle value) { return nb::cast(T(*nb::inst_ptr<T>(value))); }});
}

/// All tensors of a structure by the names that checkpoints give them, in order.
std::vector<nn::Named> named_of(nb::handle tree);

}  // namespace tenon::python
