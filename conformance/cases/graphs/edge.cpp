// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ends of edges, from the op table, and their numbers.
#include "conformance/cases/graphs/edge.hpp"

#include "core/ir/op.hpp"

namespace tenon::conformance::graphs {
namespace {

constexpr std::string_view kLayoutNames[kEdgeLayoutCount] = {
    "plain", "reshaped", "broadcast", "permuted", "padded", "shrunk", "flipped", "chained"};

std::vector<EdgeOp> make_ops() {
  std::vector<EdgeOp> out{{Op::PARAM}, {Op::CONST}, {Op::INDEX}};
  for (const OpInfo& info : all_ops())
    if (is_elementwise(info.op) && info.level != OpLevel::PROGRAM) out.push_back({info.op});
  for (const OpInfo& info : all_ops())
    if (is_reduction(info.op)) out.push_back({Op::REDUCE, info.op});
  out.push_back({Op::TAKE});
  out.push_back({Op::STORE});
  return out;
}

int place_of(const Node& node) {
  const auto* reduce = std::get_if<ReduceAttr>(&node.attr);
  const auto& ops = edge_ops();
  for (size_t i = 0; i < ops.size(); ++i)
    if (ops[i].op == node.op && (!reduce || ops[i].combines == reduce->op))
      return static_cast<int>(i);
  return -1;  // IF and LOOP: regions have edges of their own
}

EdgeLayout layout_of(ViewKind kind) {
  switch (kind) {
    case ViewKind::kReshape:
      return EdgeLayout::kReshaped;
    case ViewKind::kExpand:
      return EdgeLayout::kBroadcast;
    case ViewKind::kPermute:
      return EdgeLayout::kPermuted;
    case ViewKind::kPad:
      return EdgeLayout::kPadded;
    case ViewKind::kShrink:
      return EdgeLayout::kShrunk;
    case ViewKind::kFlip:
      return EdgeLayout::kFlipped;
  }
  return EdgeLayout::kPlain;
}

/// Of a view and what lies above it. A broadcast may begin with a reshape that adds axes.
EdgeLayout combined(EdgeLayout view, EdgeLayout above) {
  if (above == EdgeLayout::kPlain || view == above) return view;
  const bool widens = view == EdgeLayout::kReshaped && above == EdgeLayout::kBroadcast;
  return widens ? above : EdgeLayout::kChained;
}

/// First number of each (producer, consumer, dtype); -1 where there is no such edge.
struct Numbers {
  std::vector<int32_t> first;
  std::vector<Edge> plain;  ///< in order, each with kEdgeLayoutCount numbers
};

size_t slot(const Edge& edge) {
  return (static_cast<size_t>(edge.producer) * edge_ops().size() +
          static_cast<size_t>(edge.consumer)) *
             32 +
         static_cast<size_t>(edge.dtype);
}

Numbers make_numbers() {
  Numbers out;
  const int count = static_cast<int>(edge_ops().size());
  out.first.assign(static_cast<size_t>(count) * static_cast<size_t>(count) * 32, -1);
  for (int p = 0; p < count; ++p)
    for (int c = 0; c < count; ++c)
      for (const DType dtype : all_dtypes()) {
        const Edge edge{p, c, dtype, EdgeLayout::kPlain};
        if (!can_produce(edge_ops()[static_cast<size_t>(p)], dtype) ||
            !can_consume(edge_ops()[static_cast<size_t>(c)], dtype))
          continue;
        out.first[slot(edge)] = static_cast<int32_t>(out.plain.size()) * kEdgeLayoutCount;
        out.plain.push_back(edge);
      }
  return out;
}

const Numbers& numbers() {
  static const Numbers all = make_numbers();
  return all;
}

}  // namespace

const std::vector<EdgeOp>& edge_ops() {
  static const std::vector<EdgeOp> ops = make_ops();
  return ops;
}

std::string edge_op_name(const EdgeOp& op) {
  std::string name(op_info(op.op).text);
  if (op.op == Op::REDUCE) name += "." + std::string(op_info(op.combines).text);
  return name;
}

std::string_view edge_layout_name(EdgeLayout layout) {
  return kLayoutNames[static_cast<size_t>(layout)];
}

bool can_produce(const EdgeOp& op, DType dtype) {
  const OpInfo& info = op_info(op.op);
  if (op.op == Op::INDEX) return is_int(dtype);
  if (info.kind == OpKind::COMPARE) return dtype == DType::kBool;
  return op.op == Op::CAST || takes(info.types, dtype);
}

bool can_consume(const EdgeOp& op, DType dtype) {
  const OpInfo& info = op_info(op.op);
  return info.kind != OpKind::LEAF && takes(info.types, dtype);
}

uint32_t edge_count() { return static_cast<uint32_t>(numbers().plain.size()) * kEdgeLayoutCount; }

Edge edge_at(uint32_t number) {
  Edge edge = numbers().plain.at(number / kEdgeLayoutCount);
  edge.layout = static_cast<EdgeLayout>(number % kEdgeLayoutCount);
  return edge;
}

std::optional<uint32_t> edge_number(const Edge& edge) {
  const int32_t first = numbers().first[slot(edge)];
  if (first < 0) return std::nullopt;
  return static_cast<uint32_t>(first) + static_cast<uint32_t>(edge.layout);
}

std::vector<Edge> edges_into(const Node& node) {
  std::vector<Edge> out;
  const int consumer = node.op == Op::VIEW ? -1 : place_of(node);
  if (consumer < 0) return out;
  for (const NodeRef& source : node.sources) {
    const Node* below = source.get();
    EdgeLayout layout = EdgeLayout::kPlain;
    for (; below->op == Op::VIEW; below = below->sources[0].get())
      layout = combined(layout_of(below->as<ViewAttr>().kind), layout);
    if (const int producer = place_of(*below); producer >= 0)
      out.push_back({producer, consumer, source->dtype, layout});
  }
  return out;
}

}  // namespace tenon::conformance::graphs
