// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/split_scatter.hpp"

#include <algorithm>
#include <cmath>

#include "core/ir/scalar_op.hpp"

namespace tenon::scheduling {
namespace {

constexpr double kThreadsPerUnit = 64;   // they mostly wait for memory
constexpr double kShortestPart = 64;     // elements of the index
constexpr double kMostBytes = 64 << 20;  // of all copies
// An update waits about 60 ns for memory. An element of a copy is written, read and added: about
// 5 ps on the same GPU.
constexpr double kUpdatePerElement = 12000;

/// Parts of the index; 1: no split.
int64_t parts_of(const SchedulerInput& input, int i) {
  const Node& node = input.node(i);
  const auto& attr = node.as<StoreAttr>();
  const Capabilities& caps = input.capabilities(i);
  const Node& index = *node.sources[1];
  const Dim& length = index.shape[attr.axis];
  const bool exact = dtype_bits(node.dtype) >= 32;  // narrow floats would be rounded elsewhere
  if (attr.mode != StoreMode::kAdd || !exact || !is_signed(index.dtype) || !length.is_const() ||
      caps.kind() != DeviceKind::kGpu || caps.compute_units < 2)
    return 1;
  const double terms = input.estimate.of(length);
  const double others = input.estimate.of(index.shape) / std::max(1.0, terms);
  const double into = std::max(1.0, input.estimate.of(node.shape));
  const double most = caps.max_buffer_bytes == 0
                          ? kMostBytes
                          : std::min(kMostBytes, static_cast<double>(caps.max_buffer_bytes));
  const double parts =
      std::min({kThreadsPerUnit * caps.compute_units / std::max(1.0, others), terms / kShortestPart,
                most / (into * static_cast<double>(dtype_size(node.dtype))),
                std::sqrt(kUpdatePerElement * terms / into)});
  return std::max<int64_t>(1, static_cast<int64_t>(parts));
}

/// Splits the axis into parts; the last is padded with `fill`, which is scattered nowhere.
NodeRef cut(Builder& builder, const NodeRef& x, int axis, int64_t parts, const Scalar& fill) {
  const int64_t length = x->shape[axis].value();
  return with_blocks(builder, x, axis, parts, (length + parts - 1) / parts, fill);
}

NodeRef in_parts(Builder& builder, const Node& node, const std::vector<NodeRef>& sources,
                 int64_t parts) {
  const int axis = node.as<StoreAttr>().axis;
  const NodeRef& index = sources[1];
  Shape copies = node.shape;
  copies.insert(copies.begin() + axis, Dim(parts));
  const NodeRef sums = builder.store(
      builder.constant(zero(node.dtype), copies),
      cut(builder, index, axis, parts, Scalar::of_int(index->dtype, -1)),
      cut(builder, sources[2], axis, parts, zero(node.dtype)), axis + 1, StoreMode::kAdd);
  const NodeRef all = builder.reshape(builder.reduce(Op::ADD, sums, {axis}), node.shape);
  return builder.binary(Op::ADD, sources[0], all);
}

}  // namespace

std::optional<Graph> split_scatters(const SchedulerInput& input, Builder& builder) {
  std::vector<int64_t> parts(input.nodes.size(), 1);
  for (int i = 0; i < static_cast<int>(input.nodes.size()); ++i)
    if (input.node(i).op == Op::STORE) parts[static_cast<size_t>(i)] = parts_of(input, i);
  if (std::ranges::all_of(parts, [](int64_t n) { return n == 1; })) return std::nullopt;
  return with_changed_nodes(input, builder, [&](int i, const std::vector<NodeRef>& sources) {
    return parts[i] > 1 ? in_parts(builder, input.node(i), sources, parts[i]) : NodeRef();
  });
}

}  // namespace tenon::scheduling
