// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise expressions as text, "add(x, mul(y, 2))": what rewrite rules and derivatives are
// written in.
//
// An op by its name in the text form, a variable (one lower-case letter) that stands for a node, or
// a number: a CONST of that value in the dtype of its place ("-0.0" and "0.0" are two; -1 has all
// bits set in unsigned dtypes too), or true or false, a CONST of bool.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/ir/build.hpp"

namespace tenon {

class Cursor;

struct Formula {
  enum class Kind : uint8_t { kOp, kVariable, kNumber } kind = Kind::kVariable;
  Op op = Op::INVALID;
  char variable = 0;
  double number = 0;
  bool boolean = false;  ///< a number that can only be a bool
  char typed_as = 0;     ///< of a number: the variable whose dtype it has; 0: build's `dtype`
  std::vector<Formula> operands;

  /// Throws kInternal for text that is not a formula.
  static Formula parse(std::string_view text);
  /// Parses at the cursor. Throws kInvalid with line and column.
  static Formula parse(Cursor& cursor);
  Scalar value(DType dtype) const;  ///< of a number
  bool mentions(char variable) const;
};

/// Nodes by letter of the variable; null where there is none. Must outlive the call.
using Bindings = std::array<const NodeRef*, 26>;

/// Builds the nodes of a formula. Numbers become a CONST of `shape` and `dtype`, or their own
/// dtype.
NodeRef build(const Formula& formula, const Bindings& bound, DType dtype, const Shape& shape,
              Builder& builder);

}  // namespace tenon
