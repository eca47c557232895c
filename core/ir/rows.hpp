// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes rows of tensors at a computed position, as the number of an iteration.
#pragma once

#include "core/ir/build.hpp"

namespace tenon {

/// `rows` of shape [n, d..] with `row` of shape [d..] stored at an i64[] position.
NodeRef with_row(const NodeRef& rows, const NodeRef& position, const NodeRef& row,
                 Builder& builder);
NodeRef row_of(const NodeRef& rows, const NodeRef& position, Builder& builder);

}  // namespace tenon
