// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which dtypes an op's row in ops.def takes.
#pragma once

#include "core/ir/dtype.hpp"
#include "core/ir/op.hpp"

namespace tenon {

bool takes(OpTypes types, DType dtype);

}  // namespace tenon
