// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where an op is well conditioned, for each operand: results that neither overflow nor cancel.
#pragma once

#include "conformance/cases/values.hpp"
#include "core/ir/op.hpp"

namespace tenon::conformance {

Domain operand_domain(Op op, DType dtype, int operand);
/// Terms of a REDUCE: sums do not cancel, products do not overflow.
Domain term_domain(Op op, DType dtype);
/// Positions along an axis, some of them outside it.
Domain index_domain(int64_t size);

}  // namespace tenon::conformance
