// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small graphs that tests schedule, written with a Builder.
#pragma once

#include "core/ir/build.hpp"
#include "core/ir/capabilities.hpp"
#include "core/schedule/schedule.hpp"

namespace tenon::test {

class Models {
 public:
  Builder builder;

  NodeRef param(const std::string& name, Shape shape, DType dtype = DType::kF32);
  NodeRef number(double value, const Shape& shape, DType dtype = DType::kF32);
  NodeRef add(NodeRef a, NodeRef b) { return builder.binary(Op::ADD, a, b); }
  NodeRef mul(NodeRef a, NodeRef b) { return builder.binary(Op::MUL, a, b); }
  NodeRef minus(NodeRef a, NodeRef b);
  NodeRef scaled(NodeRef a, double by) { return mul(a, number(by, a->shape, a->dtype)); }
  NodeRef exp(NodeRef x);
  NodeRef softmax(NodeRef x, int axis);
  NodeRef layer_norm(NodeRef x, NodeRef gain, NodeRef bias);  ///< over the last axis
  NodeRef gelu(NodeRef x);
  /// [.., m, k] x [.., k, n]; equal leading axes.
  NodeRef matmul(NodeRef a, NodeRef b);
  NodeRef row_vector(NodeRef x, const Shape& like);  ///< [n] repeated to [.., n]
  NodeRef linear(const std::string& name, NodeRef x, int64_t out);
  NodeRef attention(const std::string& name, NodeRef x, int64_t heads);
  NodeRef block(const std::string& name, NodeRef x, int64_t heads);

  /// The params below the outputs, in order of first use.
  Graph graph(const std::string& name, std::vector<NodeRef> outputs,
              std::vector<Expr> symbols = {});
  Graph transformer(int layers, int64_t tokens, int64_t width, int64_t heads);
};

ScheduleOptions on_one_device(const Capabilities& capabilities = generic_capabilities());
int kernel_count(const Schedule& schedule);
int copy_count(const Schedule& schedule);
const KernelCall& kernel(const Schedule& schedule, int number);

}  // namespace tenon::test
