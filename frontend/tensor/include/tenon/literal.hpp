// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors written out: tensor({{1.f, 2.f}, {3.f, 4.f}}), tensor<double>({1, 2}), tensor(0.5f).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

/// A number, or rows of one shape in braces, to any depth. It is written where it is used: one that
/// was kept in a variable could stand for itself or for a row of its own.
class TENON_API Literal {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> Literal(T value)  // NOLINT: a number is one
      : dtype_(DTypeOf<T>::value), values_{Number(value)} {}
  /// Throws kInvalid for rows of different shapes.
  Literal(std::initializer_list<Literal> rows);
  Literal(const Literal&) = delete;
  Literal& operator=(const Literal&) = delete;

  /// That of the C++ type of all elements; kVoid where they differ or there are none.
  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  const std::vector<Number>& values() const { return values_; }

 private:
  DType dtype_;
  std::vector<int64_t> shape_;
  std::vector<Number> values_;  ///< row-major
};

/// Throws kInvalid for elements of different C++ types.
TENON_API Tensor tensor(const Literal& literal, Context& context = Context::standard());
/// Throws kInvalid for a number that the dtype does not hold.
TENON_API Tensor tensor(const Literal& literal, DType dtype,
                        Context& context = Context::standard());
template <class T>
Tensor tensor(const Literal& literal, Context& context = Context::standard()) {
  return tensor(literal, DTypeOf<T>::value, context);
}

}  // namespace tenon
