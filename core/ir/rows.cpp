// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/rows.hpp"

namespace tenon {
namespace {

/// The position as the index operand of one row.
NodeRef row_index(const NodeRef& rows, const NodeRef& position, Builder& builder) {
  Shape shape = rows->shape;
  shape[0] = 1;
  return builder.expand(builder.reshape(position, Shape(shape.size(), Dim(1))), shape);
}

}  // namespace

NodeRef with_row(const NodeRef& rows, const NodeRef& position, const NodeRef& row,
                 Builder& builder) {
  const NodeRef index = row_index(rows, position, builder);
  return builder.store(rows, index, builder.reshape(row, index->shape), 0, StoreMode::kLast);
}

NodeRef row_of(const NodeRef& rows, const NodeRef& position, Builder& builder) {
  const NodeRef row = builder.take(rows, row_index(rows, position, builder), 0);
  return builder.reshape(row, {rows->shape.begin() + 1, rows->shape.end()});
}

}  // namespace tenon
