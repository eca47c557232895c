// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/kernel_graph.hpp"

#include <algorithm>
#include <map>

namespace tenon::scheduling {
namespace {

class Writer {
 public:
  Writer(const SchedulerInput& input, const Cut& cut, const std::vector<int>& outputs,
         const std::vector<int>& computed, const std::function<std::string(int)>& name_of,
         Builder& builder)
      : input_(input),
        cut_(cut),
        outputs_(outputs),
        computed_(computed),
        name_of_(name_of),
        builder_(builder) {}

  KernelGraph run() {
    const Node& first = input_.node(outputs_[0]);
    if (first.op == Op::STORE) {
      write_store(outputs_[0]);
    } else {
      for (int root : outputs_) {
        out_.reads_before.push_back(out_.reads.size());
        out_.graph.outputs.push_back(in_loops_of(first.shape, write(root)));
      }
    }
    out_.graph.output_names.resize(out_.graph.outputs.size());
    out_.graph.symbols = symbols_used(out_.graph.outputs, input_.graph.symbols);
    return std::move(out_);
  }

 private:
  /// Reshapes a reduced output so that its axes line up with the loops of the first output.
  NodeRef in_loops_of(const Shape& whole, NodeRef output) const {
    if (output->op != Op::REDUCE || output->shape.size() == whole.size()) return output;
    const std::optional<std::vector<int>> axes = axes_in(output->shape, whole);
    if (!axes) return output;
    Shape shape(whole.size(), Dim(1));
    for (size_t d = 0; d < axes->size(); ++d)
      if ((*axes)[d] >= 0) shape[static_cast<size_t>((*axes)[d])] = output->shape[d];
    return builder_.reshape(std::move(output), std::move(shape));
  }

  void write_store(int root) {
    const std::vector<int>& sources = input_.sources[root];
    // A separate param: it can be bound to a copy if the other operands read the target too.
    const int updated = cut_.buffer_of[sources[0]];
    const NodeRef target =
        builder_.param(name_of_(updated) + "_updated", input_.node(sources[0]).dtype,
                       input_.node(sources[0]).shape);
    out_.graph.params.push_back(target);
    out_.reads.push_back(updated);
    const NodeRef index = write(sources[1]);
    const NodeRef values = write(sources[2]);
    out_.reads_updated =
        std::find(out_.reads.begin() + 1, out_.reads.end(), updated) != out_.reads.end();
    const Node& node = input_.node(root);
    out_.graph.outputs.push_back(
        builder_.make(node.op, node.dtype, node.shape, {target, index, values}, node.attr));
  }

  bool is_read(int i) const {
    return cut_.buffer_of[i] == i && input_.strip_scalar_views(i) == i &&
           std::find(computed_.begin(), computed_.end(), i) == computed_.end();
  }

  NodeRef read(int i) {
    const Node& node = input_.node(i);
    // A new param, not the user's: kernels are cached, and the user's may own a buffer.
    NodeRef param = builder_.param(name_of_(i), node.dtype, node.shape);
    out_.graph.params.push_back(param);
    out_.reads.push_back(i);
    return param;
  }

  /// Iterative: kernels may be deep.
  NodeRef write(int root) {
    std::vector<std::pair<int, bool>> stack{{root, false}};
    while (!stack.empty()) {
      const auto [i, expanded] = stack.back();
      stack.pop_back();
      if (written_.count(i)) continue;
      if (is_leaf(input_.node(i))) {
        written_[i] = input_.nodes[i];
      } else if (is_read(i)) {
        written_[i] = read(i);
      } else if (expanded) {
        written_[i] = rebuilt(i);
      } else {
        stack.emplace_back(i, true);
        const std::vector<int>& sources = input_.sources[i];
        for (size_t s = sources.size(); s-- > 0;) stack.emplace_back(sources[s], false);
      }
    }
    return written_.at(root);
  }

  NodeRef rebuilt(int i) {
    std::vector<NodeRef> sources;
    for (int s : input_.sources[i]) sources.push_back(written_.at(s));
    return with_sources(input_.nodes[i], std::move(sources), builder_);
  }

  const SchedulerInput& input_;
  const Cut& cut_;
  const std::vector<int>&outputs_, &computed_;
  const std::function<std::string(int)>& name_of_;
  Builder& builder_;
  std::map<int, NodeRef> written_;
  KernelGraph out_;
};

void collect(const Shape& shape, std::map<std::string, Expr>& out) {
  for (const Dim& dim : shape)
    if (!dim.is_const()) dim.collect_symbols(out);
}

}  // namespace

KernelGraph kernel_graph(const SchedulerInput& input, const Cut& cut,
                         const std::vector<int>& outputs, const std::vector<int>& computed,
                         const std::function<std::string(int)>& name_of, Builder& builder) {
  return Writer(input, cut, outputs, computed, name_of, builder).run();
}

std::vector<Expr> symbols_used(const std::vector<NodeRef>& outputs, const std::vector<Expr>& all) {
  if (all.empty()) return {};
  std::map<std::string, Expr> used;
  for (const NodeRef& node : topological(outputs)) {
    collect(node->shape, used);
    if (const auto* view = std::get_if<ViewAttr>(&node->attr)) {
      for (const auto& [a, b] : view->pairs) collect({a, b}, used);
    } else if (const auto* param = std::get_if<ParamAttr>(&node->attr)) {
      if (param->is_dim) collect({param->dim}, used);
    }
  }
  std::vector<Expr> out;
  for (const Expr& symbol : all)
    if (used.count(symbol.name())) out.push_back(symbol);
  return out;
}

}  // namespace tenon::scheduling
