// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of tensors at a position that is a value, as the number of a trip is.
#pragma once

#include "core/ir/build.hpp"

namespace tenon {

/// `rows` of shape [n, d..] with `row` (of shape [d..]) at an i64[] position.
NodeRef with_row(const NodeRef& rows, const NodeRef& position, const NodeRef& row,
                 Builder& builder);
NodeRef row_of(const NodeRef& rows, const NodeRef& position, Builder& builder);

}  // namespace tenon
