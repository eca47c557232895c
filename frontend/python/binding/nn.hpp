// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon.nn and tenon.optim: models, what learns them, and files of them.
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include "frontend/python/binding/arguments.hpp"
#include "tenon/nn/conv.hpp"
#include "tenon/nn/mode.hpp"
#include "tenon/nn/optimizers/optimizers.hpp"

namespace tenon::python {

/// Parameter, Buffer, Mode, and functions of whole models; before the layers.
void add_models(nb::module_& nn);
/// Optimizer and Rate; before the functions that make them.
void add_optimizers(nb::module_& optim);
/// What generate.py makes of the headers.
void add_layers(nb::module_& nn, nb::module_& optim);

template <int N>
nn::PerAxis<N> from_per_axis(Place place, nb::handle value) {
  const auto each = from<std::vector<int64_t>>(place, value);
  if (each.size() == 1) return each[0];
  std::array<int64_t, N> out{};
  if (each.size() != N) refuse(place, fmt::format("an integer or {} of them", N).c_str(), value);
  std::copy(each.begin(), each.end(), out.begin());
  return out;
}

/// The attribute of a layer.
nb::object to_python(const nn::Fixed& value);

}  // namespace tenon::python
