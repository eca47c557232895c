// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/finite.hpp"

#include <algorithm>

#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"

namespace tenon {
namespace {

enum class Kind : int64_t { kFinite, kInfinite, kNaN };

/// Nodes that are looked at in one run, beside the operands of the one in question.
constexpr size_t kSamples = 24;

class Search {
 public:
  Search(Context& context, const std::vector<std::pair<std::string, Tensor>>& inputs)
      : context_(context), inputs_(inputs) {}

  Kind kind_of(const NodeRef& node) {
    look({node});
    return known_.at(node.get());
  }

  /// The first of a node that has such numbers.
  NotFinite first(NodeRef node, Kind kind) {
    std::vector<std::string> within;
    for (;;) {
      const std::vector<NodeRef> below = topological(node->sources);
      std::vector<NodeRef> sample = node->sources;
      size_t begin = 0;  // behind those that are well: most of what gives it is not before them
      for (size_t i = 0; i < below.size(); ++i)
        if (known_.contains(below[i].get())) begin = i + 1;
      const size_t stride = std::max<size_t>(1, (below.size() - begin) / kSamples);
      for (size_t i = begin; i < below.size(); i += stride) sample.push_back(below[i]);
      look(sample);
      const auto at = std::ranges::find_if(below, [&](const NodeRef& one) {
        const Kind* const known = known_.find(one.get());
        return known && *known == kind;
      });
      if (at != below.end()) {
        node = *at;
        continue;
      }
      if (node->op != Op::CALL) break;
      // Inside of a composite whose operands are well.
      const auto& call = node->as<CallAttr>();
      within.push_back(call.body->name);
      node =
          apply(*call.body, node->sources, builder_of(context_))[static_cast<size_t>(call.result)];
    }
    last_ = node;
    return told(*node, within, kind);
  }

  /// An operand of the node that was found last.
  NodeRef operand_of_last(Kind kind) const {
    for (const NodeRef& source : last_->sources)
      if (const Kind* const known = known_.find(source.get()); known && *known == kind)
        return source;
    return nullptr;
  }

 private:
  void look(const std::vector<NodeRef>& nodes) {
    std::vector<NodeRef> asked;
    std::vector<Tensor> kinds;
    for (const NodeRef& node : nodes) {
      if (!known_.try_emplace(node.get(), Kind::kFinite).second) continue;
      held_.push_back(node);
      if (!is_float(node->dtype) || product(node->shape).max() == 0) continue;
      const Tensor x = make_tensor(context_, node);
      asked.push_back(node);
      kinds.push_back(where(isnan(x), 2, where(isfinite(x), 0, 1)).astype(DType::kI32).max());
    }
    realize(kinds);
    for (size_t i = 0; i < asked.size(); ++i)
      *known_.find(asked[i].get()) = static_cast<Kind>(kinds[i].item<int32_t>());
  }

  NotFinite told(const Node& node, const std::vector<std::string>& within, Kind kind) const {
    NotFinite out;
    out.op = op_info(node.op).text;
    if (node.op == Op::CONST) out.op = "constant";
    if (node.op == Op::PARAM) out.op = "input";
    out.type = type_string(node);
    for (auto name = within.rbegin(); name != within.rend(); ++name)
      out.within += (out.within.empty() ? "" : " in ") + *name;
    for (const auto& [name, tensor] : inputs_)
      if (node_of(tensor).get() == &node) out.input = name;
    out.is_nan = kind == Kind::kNaN;
    return out;
  }

  Context& context_;
  const std::vector<std::pair<std::string, Tensor>>& inputs_;
  FlatMap<const Node*, Kind> known_;
  std::vector<NodeRef> held_;  ///< so that no other node gets the place of one that is known
  NodeRef last_;
};

}  // namespace

std::vector<NotFinite> first_not_finite(const Tensor& x,
                                        const std::vector<std::pair<std::string, Tensor>>& inputs) {
  TN_REQUIRE(!is_number(x), "[first_not_finite] expected a tensor, got a number");
  const NodeRef node = node_of(x);
  Search search(x.context(), inputs);
  const Kind kind = search.kind_of(node);
  if (kind == Kind::kFinite) return {};
  std::vector<NotFinite> out{search.first(node, kind)};
  if (kind == Kind::kNaN)
    if (const NodeRef infinite = search.operand_of_last(Kind::kInfinite))
      out.push_back(search.first(infinite, Kind::kInfinite));
  return out;
}

std::string to_string(const NotFinite& found) {
  const char* const what = found.is_nan ? "a NaN" : "an infinity";
  std::string out;
  if (found.op == "input")
    out = fmt::format("{} has {}: {}", found.input.empty() ? "an input" : found.input, what,
                      found.type);
  else
    out = fmt::format("'{}' gave {}: {}", found.op, what, found.type);
  return found.within.empty() ? out : fmt::format("{}, within {}", out, found.within);
}

}  // namespace tenon
