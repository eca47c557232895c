// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps by which a layer 2 graph grows: each adds one op, or one well-known pattern of ops.
#pragma once

#include "conformance/cases/graphs/edge.hpp"
#include "conformance/cases/graphs/grower.hpp"

namespace tenon::conformance::graphs {

using Step = Entry (*)(Grower&);

// Forward: an op on nodes of the pool, repaired so that its values stay harmless.
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
Entry grow_narrow_matmul(Grower& g);  ///< of bytes or bf16, all of whose values are there
Entry grow_softmax(Grower& g);
Entry grow_attention(Grower& g);   ///< of some heads, masked or not
Entry grow_running(Grower& g);     ///< a reduction of what a mask of positions lets through
Entry grow_recomputed(Grower& g);  ///< sums of a product that is larger than what it is made of
Entry grow_rows(Grower& g);        ///< statistics of rows that later sums of them take
Entry grow_windows(Grower& g);     ///< a convolution along one axis
Entry grow_cat(Grower& g);         ///< pads and adds: how a concatenation is written
Entry grow_region(Grower& g);      ///< an IF or a LOOP

/// Backward: an input of the graph becomes a value that is computed from other nodes.
void grow_backward(Grower& g);

/// Both ends of an edge, without repairs: the result is the consumer.
Entry grow_edge(Grower& g, const Edge& edge);

// What steps share.
int axis_of(Grower& g, const Shape& shape);
std::vector<int> draw_axes(Grower& g, const Shape& shape);  ///< at least one
Entry with_axis(Grower& g, Entry x);                        ///< at least one axis
Entry view_as(Grower& g, const Entry& x, EdgeLayout layout);
Entry full_range(NodeRef node);

}  // namespace tenon::conformance::graphs
