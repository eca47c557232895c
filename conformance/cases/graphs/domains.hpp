// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the operands of an op lie: for conditioned values where results neither overflow nor
// cancel, and the edges where the op is hard.
#pragma once

#include "conformance/cases/graphs/values.hpp"
#include "core/ir/op.hpp"

namespace tenon::conformance::graphs {

/// Of a cell. `other`: what a CAST casts to.
Domain operand_domain(Op op, DType dtype, int operand, DType other = DType::kVoid);
/// Terms of a REDUCE: sums do not cancel, products do not overflow.
Domain term_domain(Op op, DType dtype);
/// Positions along an axis, some of them outside it.
Domain index_domain(int64_t size);

}  // namespace tenon::conformance::graphs
