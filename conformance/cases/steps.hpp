// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps by which a layer 2 graph grows: each adds one op, or one well-known pattern of ops.
#pragma once

#include "conformance/cases/grower.hpp"

namespace tenon::conformance {

using Step = Entry (*)(Grower&);

Entry grow_unary(Grower& g);
Entry grow_binary(Grower& g);
Entry grow_integer(Grower& g);
Entry grow_compare(Grower& g);
Entry grow_where(Grower& g);
Entry grow_cast(Grower& g);
Entry grow_view(Grower& g);
Entry grow_reduce(Grower& g);
Entry grow_take(Grower& g);
Entry grow_store(Grower& g);
Entry grow_leaf(Grower& g);
Entry grow_matmul(Grower& g);
Entry grow_softmax(Grower& g);
Entry grow_cat(Grower& g);  ///< pads and adds: how a concatenation is written

}  // namespace tenon::conformance
