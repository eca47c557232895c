// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/skeleton.hpp"

#include <set>
#include <unordered_map>

#include "core/ir/fold.hpp"
#include "core/ir/node_hash.hpp"
#include "core/ir/remap.hpp"
#include "core/ir/structure.hpp"

namespace tenon {

using namespace structure;

namespace {

constexpr uint64_t kOutput = 0x6f7574, kValue = 0x76616c, kHole = 0x686f6c;

bool is_input(const Node& node) { return node.op == Op::PARAM && !node.as<ParamAttr>().is_dim; }

/// The value of all elements, if the node is computed only from constants.
std::optional<Scalar> value_of(const Node& node, const std::vector<const Scalar*>& operands) {
  if (node.op == Op::CONST) return node.as<ConstAttr>().value;
  const auto* view = std::get_if<ViewAttr>(&node.attr);
  if (view ? view->kind == ViewKind::kPad : !is_elementwise(node.op)) return std::nullopt;
  std::vector<Scalar> values;
  for (const Scalar* operand : operands) {
    if (!operand) return std::nullopt;
    values.push_back(*operand);
  }
  if (values.empty()) return std::nullopt;
  if (view) return values[0];
  return evaluate_elementwise(node, values);
}

}  // namespace

Skeleton::Skeleton(const Graph& graph, DTypeSet varying)
    : graph_(graph), varying_(varying), names_(renaming_of(graph, {})) {
  order_ = topological(graph_.outputs);
  known_.resize(order_.size());
  hashes_.resize(order_.size());
  number_.reserve(order_.size());
  std::unordered_map<const Node*, size_t> places;
  SubgraphHashes subgraphs;
  hash_ = hash_mix(graph_.params.size(), varying_);
  for (const Expr& s : graph_.symbols) hash_ = hash_mix(hash_, names_.at(s.name()).hash());
  for (const NodeRef& param : graph_.params) {
    hash_ = hash_mix(hash_, hash_head(*param, names_, subgraphs));
    places.emplace(param.get(), places.size());
  }
  std::vector<const Scalar*> operands;
  for (size_t i = 0; i < order_.size(); ++i) {
    const Node& node = *order_[i];
    number_.try_emplace(&node, i);
    operands.clear();
    for (const NodeRef& source : node.sources) operands.push_back(known(source));
    known_[i] = value_of(node, operands);
    if (known_[i]) continue;
    uint64_t h = hash_head(node, names_, subgraphs);
    if (is_input(node)) {
      const auto place = places.find(&node);
      h = hash_mix(h, place == places.end() ? places.size() : place->second);
    }
    for (size_t s = 0; s < node.sources.size(); ++s)
      h = hash_mix(h, hash_use(&node, s, node.sources[s]));
    hashes_[i] = h;
  }
  for (size_t o = 0; o < graph_.outputs.size(); ++o)
    if (graph_.outputs[o]) hash_ = hash_mix(hash_, hash_use(nullptr, o, graph_.outputs[o]));
}

const Scalar* Skeleton::known(const NodeRef& node) const {
  const std::optional<Scalar>& value = known_[number_.at(node.get())];
  return value ? &*value : nullptr;
}

bool Skeleton::may_vary(const Node* consumer, size_t operand, DType dtype) const {
  if (!(varying_ & dtype_bit(dtype))) return false;
  if (!consumer) return true;
  const Op op = consumer->op;
  const bool is_control = operand == 0 && (op == Op::IF || op == Op::LOOP);
  return !is_control && !(operand == 1 && (op == Op::TAKE || op == Op::STORE));
}

/// Hash of an operand or output. A constant that may vary hashes as a hole.
uint64_t Skeleton::hash_use(const Node* consumer, size_t operand, const NodeRef& source) {
  const Scalar* value = known(source);
  if (!value)
    return consumer ? hashes_[number_.at(source.get())]
                    : hash_mix(kOutput, hashes_[number_.at(source.get())]);
  uint64_t h = hash_mix(kValue, static_cast<uint64_t>(value->dtype));
  for (const Dim& dim : source->shape)
    h = hash_mix(h, names_.empty() ? dim.hash() : dim.substitute(names_).hash());
  if (!may_vary(consumer, operand, value->dtype)) return hash_mix(h, value->bits);
  uses_.push_back({consumer, operand});
  values_.push_back(*value);
  return hash_mix(h, kHole);
}

std::optional<std::vector<Scalar>> Skeleton::values_in(const Skeleton& other) const {
  const Graph &a = graph_, &b = other.graph_;
  if (varying_ != other.varying_ || a.params.size() != b.params.size() ||
      a.outputs.size() != b.outputs.size() || a.symbols.size() != b.symbols.size())
    return std::nullopt;
  for (size_t i = 0; i < a.symbols.size(); ++i)
    if (!(names_.at(a.symbols[i].name()) == other.names_.at(b.symbols[i].name())))
      return std::nullopt;
  // Maps each node of this graph to one of the other. Two nodes may map to one, as constants that
  // happen to be equal there were hash-consed.
  std::vector<const Node*> image(order_.size());
  std::unordered_map<const Node*, const Node*> inputs;
  SubgraphEquality subgraphs;
  for (size_t i = 0; i < a.params.size(); ++i) {
    if (!same_head(*a.params[i], names_, *b.params[i], other.names_, subgraphs))
      return std::nullopt;
    inputs.emplace(a.params[i].get(), b.params[i].get());
  }
  std::vector<Scalar> values;
  values.reserve(values_.size());
  const auto same = [&](const Node* consumer, size_t operand, const NodeRef& x, const NodeRef& y) {
    const Scalar *in_x = known(x), *in_y = other.known(y);
    if (!in_x || !in_y) return !in_x && !in_y && image[number_.at(x.get())] == y.get();
    const bool same_dims = names_.empty()
                               ? x->shape == y->shape
                               : renamed(x->shape, names_) == renamed(y->shape, other.names_);
    if (in_x->dtype != in_y->dtype || !same_dims) return false;
    if (!may_vary(consumer, operand, in_x->dtype)) return *in_x == *in_y;
    values.push_back(*in_y);
    return true;
  };
  // From outputs to leaves, so that the image of a node is known before its operands are compared.
  const auto give = [&](const NodeRef& x, const NodeRef& y) {
    if (known(x) || other.known(y)) return true;  // compared below
    const Node*& at = image[number_.at(x.get())];
    if (at && at != y.get()) return false;
    at = y.get();
    return true;
  };
  for (size_t o = 0; o < a.outputs.size(); ++o) {
    if (!a.outputs[o] || !b.outputs[o]) return std::nullopt;
    if (!give(a.outputs[o], b.outputs[o])) return std::nullopt;
  }
  for (size_t i = order_.size(); i-- > 0;) {
    const Node& x = *order_[i];
    if (known_[i] || !image[i]) continue;
    const Node& y = *image[i];
    if (x.sources.size() != y.sources.size()) return std::nullopt;
    for (size_t s = 0; s < x.sources.size(); ++s)
      if (!give(x.sources[s], y.sources[s])) return std::nullopt;
  }
  for (size_t i = 0; i < order_.size(); ++i) {
    if (known_[i]) continue;
    if (!image[i]) return std::nullopt;
    const Node &x = *order_[i], &y = *image[i];
    if (is_input(x)) {
      const auto input = inputs.find(&x);
      if (input == inputs.end() || input->second != &y) return std::nullopt;
      continue;
    }
    if (!same_head(x, names_, y, other.names_, subgraphs)) return std::nullopt;
    for (size_t s = 0; s < x.sources.size(); ++s)
      if (!same(&x, s, x.sources[s], y.sources[s])) return std::nullopt;
  }
  for (size_t o = 0; o < a.outputs.size(); ++o)
    if (!same(nullptr, o, a.outputs[o], b.outputs[o])) return std::nullopt;
  return values;
}

Graph lift(const Skeleton& skeleton, const std::vector<LiftedInput>& inputs,
           const std::vector<LiftedPlace>& places, Builder& builder) {
  Graph out = skeleton.graph();
  std::set<std::string> taken;
  for (const NodeRef& param : out.params) taken.insert(param->as<ParamAttr>().name);
  const size_t own = out.params.size();
  for (const LiftedInput& input : inputs) {
    std::string name = "constants_" + std::string(dtype_name(input.dtype));
    while (!taken.insert(name).second) name += "_";
    out.params.push_back(builder.param(name, input.dtype, {Dim(input.count)}));
  }
  FlatMap<const Node*, NodeRef> copies;
  size_t next = 0;  // this walk visits uses in their order
  const auto source_of = [&](const Node* consumer, size_t operand, const NodeRef& source) {
    const auto& uses = skeleton.uses();
    if (next == uses.size() || uses[next].node != consumer || uses[next].operand != operand)
      return copies.at(source.get());
    const LiftedPlace& place = places[next++];
    if (place.input < 0) return copies.at(source.get());
    NodeRef value = builder.shrink(out.params[own + static_cast<size_t>(place.input)],
                                   {{Dim(place.element), Dim(place.element + 1)}});
    value = builder.reshape(std::move(value), Shape(source->shape.size(), Dim(1)));
    return builder.expand(std::move(value), source->shape);
  };
  for (const NodeRef& node : skeleton.nodes()) {
    std::vector<NodeRef> sources;
    for (size_t s = 0; s < node->sources.size(); ++s)
      sources.push_back(source_of(node.get(), s, node->sources[s]));
    copies.try_emplace(node.get(), with_sources(node, std::move(sources), builder));
  }
  for (size_t o = 0; o < out.outputs.size(); ++o)
    out.outputs[o] = source_of(nullptr, o, out.outputs[o]);
  return out;
}

}  // namespace tenon
