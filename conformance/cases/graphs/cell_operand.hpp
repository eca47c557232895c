// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of layer 1: inputs that reach a shape through a layout, and constants.
#pragma once

#include <utility>
#include <vector>

#include "conformance/cases/graphs/cells.hpp"
#include "conformance/cases/graphs/values.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance::graphs {

class OperandBuilder {
 public:
  OperandBuilder(Choices& choices, Builder& builder, uint32_t flags)
      : choices_(choices), build_(builder), flags_(flags) {}

  const std::vector<std::pair<NodeRef, Domain>>& params() const { return params_; }

  NodeRef param(DType dtype, Shape shape, Domain domain);
  /// An input that reaches `shape` through the layout; now and then through further ones first.
  NodeRef lay_out(Layout layout, DType dtype, const Shape& shape, const Domain& domain);
  /// The same through two to four layouts.
  NodeRef chain(DType dtype, const Shape& shape, const Domain& domain);
  /// A value of the dtype's edges or of the domain's.
  Scalar draw_constant(DType dtype, const Domain& domain);

 private:
  NodeRef lay_out(Layout layout, DType dtype, const Shape& shape, const Domain& domain, int depth);
  std::vector<int> draw_axes(int rank);
  std::vector<int> draw_order(int rank);

  Choices& choices_;
  Builder& build_;
  uint32_t flags_;
  std::vector<std::pair<NodeRef, Domain>> params_;
};

/// The same number with the other sign; of a bool, the other one.
Scalar negated(const Scalar& value);

}  // namespace tenon::conformance::graphs
