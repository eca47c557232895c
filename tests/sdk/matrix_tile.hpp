// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One matrix atom in a loop over k: operands and result in either order, from global and from
// shared memory.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "sdk/program/builder.hpp"
#include "tenon/plugin.h"
#include "tests/sdk/null_device.hpp"

namespace tenon::sdk {

struct MatrixTile {
  static constexpr uint32_t kSteps = 2;  ///< of the loop over k

  tn_matrix_atom atom;
  bool is_transposed[3];
  bool is_shared;
  uint32_t pad;  ///< elements that a row of memory has more than it needs

  uint32_t rows(uint32_t role) const { return role == 1 ? atom.k * kSteps : atom.m; }
  uint32_t columns(uint32_t role) const { return role == 0 ? atom.k * kSteps : atom.n; }
  uint32_t stride(uint32_t role) const {
    return (is_transposed[role] ? rows(role) : columns(role)) + pad;
  }
  uint32_t count(uint32_t role) const {
    return (is_transposed[role] ? columns(role) : rows(role)) * stride(role);
  }
  uint32_t at(uint32_t role, uint32_t row, uint32_t column) const {
    return is_transposed[role] ? column * stride(role) + row : row * stride(role) + column;
  }
  tn_dtype dtype(uint32_t role) const {
    const uint32_t of_role[] = {atom.a_dtype, atom.b_dtype, atom.accumulator_dtype};
    return static_cast<tn_dtype>(of_role[role]);
  }
  std::string text() const;

  using Element = std::function<double(uint32_t role, uint32_t row, uint32_t column)>;
  /// A small number that the operand's dtype has: of floats a multiple of 1/4.
  double small(uint32_t role, uint32_t row, uint32_t column) const;
  /// The memory of an operand whose elements are these; what lies between rows is 0.
  Bytes stored(uint32_t role, const Element& element) const;
  /// An element of the result, from its memory.
  double result(std::span<const unsigned char> memory, uint32_t row, uint32_t column) const;
  /// How many elements of a result differ by more from the product of small ones.
  uint32_t differences(std::span<const unsigned char> memory, double error = 0) const;
};

/// With buffers a, b and c.
Program tile_program(const MatrixTile& t);

}  // namespace tenon::sdk
