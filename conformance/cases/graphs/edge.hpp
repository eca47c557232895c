// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Edges of graphs as coverage sees them: one op feeds another, through views or at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ir/node.hpp"

namespace tenon::conformance::graphs {

/// An op at one end of an edge; a REDUCE also by what it combines with.
struct EdgeOp {
  Op op = Op::INVALID;
  Op combines = Op::INVALID;
};
/// Views are no ends, they are the layout between.
const std::vector<EdgeOp>& edge_ops();
std::string edge_op_name(const EdgeOp& op);  ///< "reduce.max"
bool can_produce(const EdgeOp& op, DType dtype);
bool can_consume(const EdgeOp& op, DType dtype);

enum class EdgeLayout : uint8_t {
  kPlain,
  kReshaped,
  kBroadcast,
  kPermuted,
  kPadded,
  kShrunk,
  kFlipped,
  kChained,  ///< views of two kinds or more
};
inline constexpr int kEdgeLayoutCount = 8;
std::string_view edge_layout_name(EdgeLayout layout);

struct Edge {
  int producer = 0, consumer = 0;  ///< in edge_ops()
  DType dtype = DType::kVoid;      ///< between them
  EdgeLayout layout = EdgeLayout::kPlain;
  bool operator==(const Edge&) const = default;
};

/// Edges that graphs can have, numbered from 0.
uint32_t edge_count();
Edge edge_at(uint32_t number);
std::optional<uint32_t> edge_number(const Edge& edge);

/// The edges into a node.
std::vector<Edge> edges_into(const Node& node);

}  // namespace tenon::conformance::graphs
