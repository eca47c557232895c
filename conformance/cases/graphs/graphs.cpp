// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grows a graph step by step and chooses its outputs.
#include "conformance/cases/graphs/graphs.hpp"

#include <algorithm>
#include <set>

#include "conformance/cases/graphs/coverage.hpp"
#include "conformance/cases/graphs/steps.hpp"
#include "conformance/cases/template_spec.hpp"

namespace tenon::conformance::graphs {
namespace {

constexpr Step kSteps[] = {grow_binary,        grow_unary,     grow_view,      grow_reduce,
                           grow_where,         grow_cast,      grow_compare,   grow_integer,
                           grow_take,          grow_store,     grow_leaf,      grow_matmul,
                           grow_softmax,       grow_cat,       grow_binary,    grow_view,
                           grow_reduce,        grow_region,    grow_attention, grow_narrow_matmul,
                           grow_narrow_matmul, grow_attention, grow_running,   grow_recomputed,
                           grow_windows,       grow_rows};
/// What kernels do otherwise than op by op, the simplest first, and what may stand around it.
constexpr Step kFusedSteps[] = {grow_reduce,       grow_attention,  grow_attention, grow_attention,
                                grow_running,      grow_running,    grow_running,   grow_recomputed,
                                grow_recomputed,   grow_recomputed, grow_rows,      grow_windows,
                                grow_narrow_matmul};
constexpr Step kStepsAround[] = {grow_binary, grow_unary,  grow_reduce,
                                 grow_view,   grow_reduce, grow_cast};
constexpr size_t kMostNodes = 44, kMostOutputs = 6, kMostWithUpdates = 54;
constexpr int kMostSteps = 40;
constexpr uint64_t kStopOdds = 9, kStopOddsFused = 2;  ///< one in so many steps is the last
constexpr uint64_t kInnerOutputs = 6, kInnerOutputsFused = 30;  ///< of a hundred that are read

class GraphBuilder {
 public:
  GraphBuilder(Choices& choices, Builder& builder, std::optional<uint32_t> aim, uint32_t flags)
      : choices_(choices), g_(choices, builder, flags), aim_(aim), fused_(flags & kFused) {}

  Template build() {
    if (fused_)
      grow_fused();
    else
      draw_steps();
    for (int i = 0; i < kMostSteps; ++i) {
      const Choices::Scope scope(choices_, Part::kNode);
      // Zero ends the graph, so what is cut out of the draws makes it smaller.
      if (choices_.below(fused_ ? kStopOddsFused : kStopOdds) == 0 && !g_.pool().empty()) break;
      if (!grow()) break;
    }
    Template out;
    out.cell = {"graph", std::string(dtype_name(g_.main_float())), "mixed"};
    std::vector<NodeRef> outputs = draw_outputs();
    draw_updates(outputs);
    finish_graph(out, std::move(outputs), g_.params());
    return out;
  }

 private:
  /// A random subset: a bug that needs two ops together is not drowned by the others.
  void draw_steps() {
    const Choices::Scope scope(choices_, Part::kOther);
    uint64_t mask = choices_.bits();
    if (choices_.chance(40)) mask |= mask >> 20;
    for (size_t i = 0; i < std::size(kSteps); ++i)
      if (mask >> i & 1) steps_.push_back(kSteps[i]);
    if (steps_.empty()) steps_.push_back(grow_binary);
  }

  void grow_fused() {
    for (int more = choices_.chance(20) ? 2 : 1; more > 0 && node_count({}) < 20; --more) {
      const Choices::Scope scope(choices_, Part::kNode);
      g_.add(choices_.pick(kFusedSteps)(g_));
    }
    steps_.assign(std::begin(kStepsAround), std::end(kStepsAround));
  }

  /// One step; false when the graph is full.
  bool grow() {
    const bool aimed = aim_ && aims_ < kAims && choices_.chance(50);
    if (!aimed && !fused_ && node_count({}) < kMostNodes - 8 && choices_.chance(15)) {
      grow_backward(g_);
      return true;
    }
    const Entry entry = aimed ? grow_aimed() : choices_.pick(steps_)(g_);
    if (!g_.fits(entry.node->shape)) {
      if (g_.pool().empty()) g_.add(g_.param(g_.main_float(), g_.draw_shape()));
      return true;
    }
    if (node_count(entry.node) > kMostNodes && !g_.pool().empty()) return false;
    g_.add(entry);
    return true;
  }

  Entry grow_aimed() {
    const uint32_t cell = *aim_;
    aim_ = next_aim(cell);
    ++aims_;
    return grow_edge(g_, edge_at(cell));
  }

  size_t node_count(const NodeRef& also) const {
    std::vector<NodeRef> roots;
    for (const Entry& entry : g_.pool()) roots.push_back(entry.node);
    if (also) roots.push_back(also);
    return topological(roots).size();
  }

  /// Nodes of the pool that nothing reads, the youngest first, and now and then one that something
  /// reads; at least one.
  std::vector<NodeRef> draw_outputs() {
    std::vector<NodeRef> roots, outputs;
    for (const Entry& entry : g_.pool()) roots.push_back(entry.node);
    std::set<const Node*> read;
    for (const NodeRef& node : topological(roots))
      for (const NodeRef& source : node->sources) read.insert(source.get());
    const uint64_t inner = fused_ ? kInnerOutputsFused : kInnerOutputs;
    for (size_t i = roots.size(); i-- > 0 && outputs.size() < kMostOutputs;) {
      const Choices::Scope scope(choices_, Part::kOutput);
      if (std::ranges::find(outputs, roots[i]) != outputs.end()) continue;
      const bool wanted =
          read.contains(roots[i].get()) ? choices_.chance(inner) : choices_.chance(90);
      if (wanted || (outputs.empty() && i == 0)) outputs.push_back(roots[i]);
    }
    return outputs;
  }

  /// Now and then what an optimizer asks for: small results that have nothing to do with one
  /// another, of shapes of their own, and a number that all read. Drawn last, so that draws of
  /// before mean what they meant.
  void draw_updates(std::vector<NodeRef>& outputs) {
    const Choices::Scope scope(choices_, Part::kOutput);
    if (fused_ || !choices_.chance(10)) return;
    Builder& build = g_.build();
    const DType dtype = g_.main_float();
    const NodeRef rate = g_.param(dtype, {}).node;
    constexpr size_t kNodesOfOne = 8;
    for (uint64_t left = 4 + choices_.below(5);
         left > 0 && topological(outputs).size() + kNodesOfOne <= kMostWithUpdates; --left) {
      const Choices::Scope one(choices_, Part::kNode);
      const NodeRef x = g_.param(dtype, g_.draw_shape()).node;
      const NodeRef y = g_.param(dtype, x->shape).node;
      outputs.push_back(build.binary(Op::MAX, x, y));
      if (choices_.chance(30)) outputs.push_back(build.binary(Op::MAX, outputs.back(), x));
      if (choices_.chance(50))
        outputs.push_back(build.binary(
            Op::MAX, x,
            build.expand(build.reshape(rate, Shape(x->shape.size(), Dim(1))), x->shape)));
    }
  }

  Choices& choices_;
  Grower g_;
  std::vector<Step> steps_;
  std::optional<uint32_t> aim_;
  uint32_t aims_ = 0;
  const bool fused_;
};

}  // namespace

Template build_graph(Choices& choices, Builder& builder, std::optional<uint32_t> aim,
                     uint32_t flags) {
  return GraphBuilder(choices, builder, aim, flags).build();
}

}  // namespace tenon::conformance::graphs
