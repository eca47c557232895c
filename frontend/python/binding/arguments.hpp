// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Python values as arguments of Tenon's functions. What does not fit is tenon.ArgumentError, a
// TypeError, or tenon.InvalidError, a ValueError: "[sum] expected axis as .., got ..".
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/python/binding/gil.hpp"
#include "tenon/fft.hpp"
#include "tenon/index.hpp"
#include "tenon/number.hpp"
#include "tenon/random.hpp"
#include "tenon/size.hpp"
#include "tenon/tensor.hpp"

namespace tenon::python {

namespace nb = nanobind;

/// The argument of a call, for messages.
struct Place {
  const char* function;
  const char* argument;
};

/// "expected axis as an integer or a tuple of integers, got 'a' (str)".
[[noreturn]] void refuse(Place place, const char* expected, nb::handle got);

/// The value of an argument, of each type that a function takes. Defined for those alone.
template <class T>
T from(Place place, nb::handle value);

/// Of one that was left out, which is None, the default.
template <class T>
T from_or(Place place, nb::handle value, T otherwise) {
  return value.is_none() ? std::move(otherwise) : from<T>(place, value);
}
/// () means no axis, as in NumPy, and C++'s none means all.
template <>
Axes from_or(Place place, nb::handle value, Axes otherwise);
bool is_no_axis(nb::handle value);
template <class T>
std::optional<T> from_optional(Place place, nb::handle value) {
  if (value.is_none()) return {};
  return from<T>(place, value);
}

/// One of the words of an enum; its place is its value.
size_t from_words(Place place, nb::handle value, std::initializer_list<const char*> words);

/// The tensor inside of a Python object; null for what is none.
Tensor* tensor_in(nb::handle value);
/// A tensor, number or array of others as a tensor; nothing for what is none of these.
std::optional<Tensor> as_tensor(nb::handle value);
/// A number of Python's; nothing for what is none.
std::optional<Number> as_number(Place place, nb::handle value);
/// What stands between brackets, of a tensor with these sizes.
std::vector<Index> from_brackets(const Tensor& x, nb::handle brackets);

nb::object to_python(Tensor x);
nb::object to_python(std::vector<Tensor> x);  ///< a list
inline nb::object to_python(const ComplexPair& x);
/// A named tuple, made once for each name: "TopK", "values indices".
nb::object named_tuple(const char* name, const char* fields, std::vector<Tensor> values);
inline nb::object to_python(const ComplexPair& x) {
  return named_tuple("ComplexPair", "real imag", {x.real, x.imag});
}

}  // namespace tenon::python
