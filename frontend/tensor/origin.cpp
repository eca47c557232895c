// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/tensor/origin.hpp"

#include <algorithm>

#include "core/autodiff/autodiff.hpp"
#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

uint64_t identity_of(const Node& node) { return node.as<ParamAttr>().identity; }

bool is_value(const Node& node) { return buffer_of(node) != nullptr; }

template <class Test>
bool any_of(const Ancestors& of, const Test& test) {
  std::vector<const Ancestors*> left{&of};
  std::set<const Ancestors*> seen;
  while (!left.empty()) {
    const Ancestors* const next = left.back();
    left.pop_back();
    if (!seen.insert(next).second) continue;
    for (const auto& [identity, value] : next->own)
      if (test(identity, value)) return true;
    for (const auto& more : next->more) left.push_back(more.get());
  }
  return false;
}

/// What the results of a run and of those before it, as far as they are kept, were computed from.
/// Values that are gone do not count: nobody can ask for a gradient by them.
void add_ancestors(const Origin& of, Ancestors& to) {
  std::vector<const Origin*> left{&of};
  std::set<const Origin*> seen;
  while (!left.empty()) {
    const Origin* const next = left.back();
    left.pop_back();
    if (!seen.insert(next).second) continue;
    for (const Origin::Input& input : next->inputs) {
      if (input.forgotten) to.more.insert(input.forgotten);
      if (input.identity != 0 && !input.node.expired()) to.own.emplace(input.identity, input.node);
      if (input.made.origin) left.push_back(input.made.origin.get());
    }
  }
}

/// The same set, as what is there already where that has it all.
std::shared_ptr<const Ancestors> shared(Ancestors ancestors) {
  const auto has_all = [&](const Ancestors& other) {
    return std::ranges::all_of(ancestors.own,
                               [&](const auto& one) { return other.own.contains(one.first); });
  };
  if (ancestors.own.empty() && ancestors.more.empty()) return nullptr;
  if (ancestors.more.size() == 1 && has_all(**ancestors.more.begin()))
    return *ancestors.more.begin();
  return std::make_shared<const Ancestors>(std::move(ancestors));
}

}  // namespace

std::shared_ptr<const Origin> make_origin(std::string call, GraphRef graph,
                                          const std::vector<NodeRef>& inputs,
                                          const std::vector<Scalar>& numbers) {
  auto out = std::make_shared<Origin>();
  out->call = std::move(call);
  out->graph = std::move(graph);
  out->inputs.reserve(inputs.size());
  std::map<const Origin*, std::shared_ptr<const Ancestors>> forgotten;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const NodeRef& node = inputs[i];
    Origin::Input& input = out->inputs.emplace_back();
    if (!node) {
      input.number = numbers[i];
      continue;
    }
    input.identity = identity_of(*node);
    input.node = node;
    const Made& made = made_of(*node);
    if (!made.origin) continue;
    if (made.origin->generation + 1 < kMostGenerations) {
      input.made = made;
      out->generation = std::max(out->generation, made.origin->generation + 1);
      continue;
    }
    const auto [of, is_new] = forgotten.try_emplace(made.origin.get());
    if (is_new) {
      Ancestors ancestors;
      add_ancestors(*made.origin, ancestors);
      of->second = shared(std::move(ancestors));
    }
    input.forgotten = of->second;
  }
  return out;
}

Made made_from(const char* call, Builder& builder, const NodeRef& x, bool has_gradient) {
  GraphRef graph;
  if (has_gradient) {
    Graph same;
    same.name = call;
    same.outputs = {fresh_param(builder, "x", *x, x->dtype, same)};
    graph = std::make_shared<const Graph>(std::move(same));
  }
  return {make_origin(call, std::move(graph), {x}), 0};
}

History::History(const char* op, Builder& builder, const std::vector<NodeRef>& outputs,
                 const std::vector<NodeRef>& wrt)
    : op_(op), builder_(builder) {
  // What depends on a leaf came after it and all that it is made of.
  uint64_t oldest = UINT64_MAX;
  const auto newest_of = [&](const NodeRef& leaf, std::set<uint64_t>& params) {
    uint64_t newest = 0;
    for (const NodeRef& below : topological({leaf})) {
      if (below->op != Op::PARAM || below->as<ParamAttr>().is_dim) continue;
      newest = std::max(newest, identity_of(*below));
      params.insert(identity_of(*below));
    }
    oldest = std::min(oldest, newest);
    return newest;
  };
  for (const NodeRef& leaf : wrt) {
    const bool is_constant = newest_of(leaf, targets_) == 0;
    if (is_constant) constants_.push_back(leaf);
    if (!is_value(*leaf)) continue;
    leaves_.insert(identity_of(*leaf));
    NodeRef original = original_of(leaf);
    if (is_value(*original)) continue;
    if (newest_of(original, made_of_) == 0) has_constant_original_ = true;
    originals_.emplace_back(leaf, std::move(original));
  }
  std::vector<NodeRef> all = outputs;
  all.insert(all.end(), wrt.begin(), wrt.end());
  for (const Run& run : runs_since(oldest, all)) expand(run, dependence_of(*run.origin));
  expand_leaves(outputs);
  if (!unknown_.empty()) check(before(outputs));
}

std::vector<History::Run> History::runs_since(uint64_t identity,
                                              const std::vector<NodeRef>& nodes) {
  struct Result {
    Made made;
    uint64_t identity;
  };
  std::vector<Result> left;
  std::map<uint64_t, Made> found;
  const auto add = [&](uint64_t own, const Made& made) {
    if (made.origin && own > identity && found.emplace(own, made).second)
      left.push_back({made, own});
  };
  const auto add_value = [&](const NodeRef& node) {
    alive_.emplace(identity_of(*node), node);
    add(identity_of(*node), made_of(*node));
  };
  for (const NodeRef& node : topological(nodes))
    if (is_value(*node)) add_value(node);
  std::set<const Ancestors*> walked;
  while (!left.empty()) {
    const std::shared_ptr<const Origin> origin = left.back().made.origin;
    left.pop_back();
    for (const Origin::Input& input : origin->inputs) {
      if (input.identity == 0) continue;
      if (const NodeRef node = input.node.lock()) {
        add_value(node);
      } else {
        add(input.identity, input.made);
      }
      if (!input.forgotten || !walked.insert(input.forgotten.get()).second) continue;
      any_of(*input.forgotten, [&](uint64_t /*own*/, const std::weak_ptr<const Node>& value) {
        if (const NodeRef node = value.lock()) add_value(node);
        return false;
      });
    }
  }
  std::vector<Run> runs;
  std::map<const Origin*, size_t> places;
  for (const auto& [own, made] : found) {
    const auto [at, is_new] = places.emplace(made.origin.get(), runs.size());
    if (is_new) runs.push_back({made.origin, {}});
    runs[at->second].results.emplace_back(made.output, own);
  }
  return runs;
}

bool History::is_known(uint64_t identity) const {
  return targets_.contains(identity) || expanded_.contains(identity);
}

History::Dependence History::dependence_of(const Origin& origin) const {
  bool on_original = has_constant_original_;
  std::set<const Ancestors*> asked;  // inputs share them
  for (const Origin::Input& input : origin.inputs) {
    if (is_known(input.identity)) return Dependence::kTarget;
    if (input.forgotten && input.node.expired() && asked.insert(input.forgotten.get()).second &&
        is_known(*input.forgotten))
      return Dependence::kTarget;
    on_original = on_original || made_of_.contains(input.identity);
  }
  if (origin.graph && !constants_.empty())
    for (const NodeRef& node : topological(origin.graph->outputs))
      if (std::ranges::count(constants_, node) > 0) return Dependence::kTarget;
  return on_original ? Dependence::kOriginal : Dependence::kNone;
}

bool History::is_known(const Ancestors& ancestors) const {
  return any_of(ancestors, [&](uint64_t own, const auto& /*value*/) { return is_known(own); });
}

void History::check(const std::vector<NodeRef>& outputs) const {
  for (const auto& [param, why] : unknown_)
    for (const bool is_on_path : autodiff::reached(outputs, {param}))
      TN_REQUIRE(!is_on_path,
                 "[{}] expected values whose computation is known, got one that depends on what is "
                 "differentiated by {}; stop_gradient it, or keep a GradientTape while it is read",
                 op_, why);
}

NodeRef History::value_of(const std::shared_ptr<const Origin>& origin, size_t input) {
  const Origin::Input& given = origin->inputs[input];
  if (given.identity == 0) return builder_.constant(given.number);
  if (const auto at = expanded_.find(given.identity); at != expanded_.end()) return at->second;
  if (const auto at = alive_.find(given.identity); at != alive_.end()) return at->second;
  const Node& like = *origin->graph->params[input];
  Gone& gone = gone_[given.identity];
  if (gone.param) return gone.param;
  gone = {builder_.param("gone", like.dtype, like.shape, given.identity), origin};
  if (given.forgotten && is_known(*given.forgotten))
    unknown_.emplace_back(gone.param, fmt::format("more than {} runs before a run of [{}]",
                                                  kMostGenerations, origin->call));
  return gone.param;
}

std::vector<NodeRef> History::results_of(const Run& run) {
  std::vector<NodeRef> results;
  if (const GraphRef& graph = run.origin->graph) {
    Remapped values;
    for (size_t i = 0; i < graph->params.size(); ++i)
      values.try_emplace(graph->params[i].get(), value_of(run.origin, i));
    for (const auto& [place, identity] : run.results) results.push_back(graph->outputs[place]);
    return substitute(results, values, builder_);
  }
  for (const auto& [place, identity] : run.results) {
    const auto at = alive_.find(identity);
    if (at == alive_.end()) return {};  // nothing that is there is made of it
    const Node& like = *at->second;
    results.push_back(builder_.param("unknown", like.dtype, like.shape, identity));
    unknown_.emplace_back(results.back(),
                          fmt::format("through [{}], which has no gradient", run.origin->call));
  }
  return results;
}

void History::expand(const Run& run, Dependence dependence) {
  if (dependence == Dependence::kNone) return;
  if (dependence == Dependence::kOriginal && !run.origin->graph) return;
  std::vector<NodeRef> results = results_of(run);
  for (size_t i = 0; i < results.size(); ++i) {
    const uint64_t identity = run.results[i].second;
    if (dependence == Dependence::kOriginal &&
        (leaves_.contains(identity) || !has_original_below(results[i])))
      continue;
    const auto at = alive_.find(identity);
    if (at != alive_.end()) {
      origins_.try_emplace(at->second.get(), results[i]);
      if (!is_value(*results[i])) read_.try_emplace(results[i].get(), at->second);
    }
    expanded_.emplace(identity, std::move(results[i]));
  }
}

/// Equal values that were read apart are apart, so not the node itself.
bool History::has_original_below(const NodeRef& node) const {
  const std::vector<NodeRef> order = topological({node});
  return std::any_of(order.begin(), order.end() - 1, [&](const NodeRef& below) {
    return std::ranges::any_of(originals_, [&](const auto& one) { return one.second == below; });
  });
}

NodeRef History::original_of(const NodeRef& value) const {
  const Made& made = made_of(*value);
  if (!made.origin || !made.origin->graph) return value;
  Remapped values;
  for (size_t i = 0; i < made.origin->inputs.size(); ++i) {
    const Origin::Input& input = made.origin->inputs[i];
    const NodeRef node = input.identity == 0 ? builder_.constant(input.number) : input.node.lock();
    if (!node) return value;
    values.try_emplace(made.origin->graph->params[i].get(), node);
  }
  return substitute({made.origin->graph->outputs[made.output]}, values, builder_)[0];
}

void History::expand_leaves(const std::vector<NodeRef>& outputs) {
  if (originals_.empty()) return;
  FlatMap<const Node*, char> within;
  for (const NodeRef& node : topological(before(outputs))) within.try_emplace(node.get());
  for (const auto& [leaf, unexpanded] : originals_) {
    if (expanded_.contains(identity_of(*leaf))) continue;
    const NodeRef original = before({unexpanded})[0];
    if (is_value(*original) || !within.contains(original.get())) continue;
    origins_.try_emplace(leaf.get(), original);
    read_.try_emplace(original.get(), leaf);
  }
}

std::vector<NodeRef> History::before(const std::vector<NodeRef>& nodes) const {
  return substitute(nodes, origins_, builder_);
}

std::vector<NodeRef> History::after(const std::vector<NodeRef>& nodes) const {
  std::vector<NodeRef> out = substitute(nodes, read_, builder_);
  if (gone_.empty()) return out;
  FlatMap<const Node*, const Origin*> gone;
  for (const auto& [identity, value] : gone_)
    gone.try_emplace(value.param.get(), value.needed_by.get());
  for (const NodeRef& node : topological(out))
    if (const Origin* const* const needed_by = gone.find(node.get()))
      fail(ErrorKind::kInvalid,
           "[{}] expected the values on the path of the gradient, got one ({}) that is gone, from "
           "which [{}] computed what was read; hold that tensor, keep a GradientTape while it is "
           "read, or stop_gradient what is data",
           op_, type_string(*node), (*needed_by)->call);
  return out;
}

}  // namespace tenon
