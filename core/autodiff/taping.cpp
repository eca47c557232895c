// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/autodiff/taping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/ir/remap.hpp"
#include "core/ir/rows.hpp"
#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"

namespace tenon::autodiff {
namespace {

/// Elements reduced to one result, from which on saving the result is faster than reducing again.
constexpr double kMinSavedRatio = 32;

NodeRef number(int64_t value, Builder& builder) {
  return builder.constant(Scalar::of_int(DType::kI64, value));
}

/// Upper bounds of non-negative integers [], as dimensions.
class Bounds {
 public:
  std::optional<Dim> of(const Node& trips) {
    if (const auto at = known_.find(&trips); at != known_.end()) return at->second;
    return known_[&trips] = find(trips);
  }

 private:
  std::optional<Dim> find(const Node& trips) {
    if (trips.op == Op::CONST)
      return Dim(std::max<int64_t>(trips.as<ConstAttr>().value.as_int(), 0));
    if (trips.op == Op::PARAM && trips.as<ParamAttr>().is_dim &&
        trips.as<ParamAttr>().dim.min() >= 0)
      return trips.as<ParamAttr>().dim;
    if (trips.op == Op::CAST && is_int(trips.sources[0]->dtype) &&
        dtype_size(trips.sources[0]->dtype) <
            dtype_size(DType::kI64))  // a widening cast keeps the number
      return of(*trips.sources[0]);
    if (trips.op != Op::MIN && trips.op != Op::MAX) return std::nullopt;
    const auto a = of(*trips.sources[0]), b = of(*trips.sources[1]);
    if (trips.op == Op::MIN) {
      if (a && b) return min(*a, *b);
      return a ? a : b;
    }
    if (a && b) return max(*a, *b);
    return std::nullopt;
  }

  std::unordered_map<const Node*, std::optional<Dim>> known_;
};

}  // namespace

double Taping::state_bytes(const Loop& loop, const std::vector<size_t>& saved) {
  double bytes = 0;
  for (const size_t j : saved) {
    const Node& state = *loop.sources[1 + j];
    bytes += static_cast<double>(product(state.shape).max()) *
             static_cast<double>(dtype_size(state.dtype));
  }
  return bytes;
}

std::vector<size_t> Taping::differentiate(const Loop& loop, Tape& tape) const {
  std::vector<bool> seeded(loop.is_while ? 1 : 0, false), wrt(1, false);
  seeded.insert(seeded.end(), tape.carried.begin(), tape.carried.end());
  wrt.insert(wrt.end(), tape.carried.begin(), tape.carried.end());
  wrt.insert(wrt.end(), tape.captured.begin(), tape.captured.end());
  tape.backward = backward_.adjoint_graph(loop.body, seeded, wrt, /*keep_wide=*/true);
  return used_states(loop, tape);
}

std::vector<size_t> Taping::used_states(const Loop& loop, const Tape& tape) {
  FlatMap<const Node*, char> used;
  for (const NodeRef& n : topological(tape.backward->outputs)) used.try_emplace(n.get());
  std::vector<size_t> saved;
  for (size_t j = 0; j < loop.carried; ++j)
    if (used.contains(loop.body->params[1 + j].get())) saved.push_back(j);
  return saved;
}

std::vector<NodeRef> Taping::save_reductions(const Loop& loop, Tape& tape) const {
  FlatMap<const Node*, char> of_trip;
  for (const NodeRef& n : topological(loop.body->outputs)) of_trip.try_emplace(n.get());
  std::vector<NodeRef> values;
  FlatMap<const Node*, NodeRef> params;
  Graph backward = *tape.backward;
  for (const NodeRef& n : topological(backward.outputs)) {
    if (n->op != Op::REDUCE || !is_float(n->dtype) || !of_trip.contains(n.get())) continue;
    const auto size = static_cast<double>(product(n->shape).max());
    const auto work = static_cast<double>(product(n->sources[0]->shape).max());
    const double own = size * static_cast<double>(dtype_size(n->dtype));
    if (work < kMinSavedRatio * size || own > tape.room) continue;
    tape.room -= own;
    values.push_back(n);
    params.try_emplace(n.get(), fresh_param(builder_, "value" + std::to_string(values.size()), *n,
                                            n->dtype, backward));
  }
  backward.outputs = substitute(backward.outputs, params, builder_);
  // Drop reductions that only other saved reductions used.
  FlatMap<const Node*, char> used;
  for (const NodeRef& n : topological(backward.outputs)) used.try_emplace(n.get());
  const auto is_unused = [&](const NodeRef& n) { return !used.contains(params.at(n.get()).get()); };
  for (const NodeRef& n : values)
    if (is_unused(n)) std::erase(backward.params, params.at(n.get()));
  std::erase_if(values, is_unused);
  if (!values.empty()) tape.backward = std::make_shared<const Graph>(std::move(backward));
  return values;
}

/// Checkpointing: a loop over segments of √trips iterations. It saves the first state of each
/// segment. The gradient of a segment recomputes the inner loop, which saves the states between.
Taping::Loop Taping::in_segments(const Loop& loop, int64_t trips) const {
  const auto length = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(trips))));
  const Graph& body = *loop.body;
  const std::vector<NodeRef> values(body.params.begin() + 1, body.params.end());

  Graph inner;
  inner.name = body.name;
  inner.symbols = body.symbols;
  inner.params = body.params;  // the iteration number becomes the one within the segment
  const NodeRef within = fresh_param(builder_, "t", *body.params[0], DType::kI64, inner);
  const NodeRef first = fresh_param(builder_, "first", *body.params[0], DType::kI64, inner);
  inner.params.erase(inner.params.begin());
  std::rotate(inner.params.begin(), inner.params.end() - 2, inner.params.end() - 1);
  FlatMap<const Node*, NodeRef> number_of_trip;
  number_of_trip.try_emplace(body.params[0].get(), builder_.binary(Op::ADD, first, within));
  inner.outputs = substitute(body.outputs, number_of_trip, builder_);

  Graph outer;
  outer.name = body.name + "_segment";
  outer.symbols = body.symbols;
  outer.params = values;
  const NodeRef segment = fresh_param(builder_, "s", *body.params[0], DType::kI64, outer);
  std::rotate(outer.params.begin(), outer.params.end() - 1, outer.params.end());
  const NodeRef begin = builder_.binary(Op::MUL, segment, number(length, builder_));
  const NodeRef count = builder_.binary(Op::MIN, number(length, builder_),
                                        builder_.binary(Op::SUB, number(trips, builder_), begin));
  const auto cut = values.begin() + static_cast<std::ptrdiff_t>(loop.carried);
  std::vector<NodeRef> captured(cut, values.end());
  captured.push_back(begin);
  const auto inner_body = std::make_shared<const Graph>(std::move(inner));
  for (size_t j = 0; j < loop.carried; ++j)
    outer.outputs.push_back(builder_.loop(count, {values.begin(), cut}, captured, inner_body,
                                          /*is_while=*/false, static_cast<int>(j)));
  Loop out = loop;
  out.sources[0] = number((trips - 1) / length + 1, builder_);
  out.body = std::make_shared<const Graph>(std::move(outer));
  return out;
}

Taping::Taped Taping::taped(const NodeRef& node, Loop loop) const {
  const size_t flag = loop.is_while ? 1 : 0;
  Tape tape;
  // Values that depend on the wanted inputs after any number of iterations.
  for (size_t i = 1; i < loop.sources.size(); ++i) {
    const bool wanted =
        is_float(loop.sources[i]->dtype) && backward_.needs_adjoint(node->sources[i]);
    (i <= loop.carried ? tape.carried : tape.captured).push_back(wanted);
  }
  for (bool grows = true; grows;) {
    std::vector<NodeRef> from;
    for (size_t j = 0; j < tape.carried.size(); ++j)
      if (tape.carried[j]) from.push_back(loop.body->params[1 + j]);
    for (size_t k = 0; k < tape.captured.size(); ++k)
      if (tape.captured[k]) from.push_back(loop.body->params[1 + loop.carried + k]);
    const std::vector<bool> to = reached(loop.body->outputs, from);
    grows = false;
    for (size_t j = 0; j < tape.carried.size(); ++j) {
      grows |= to[flag + j] && !tape.carried[j];
      tape.carried[j] = tape.carried[j] || to[flag + j];
    }
  }
  const std::optional<Dim> bound = Bounds().of(*loop.sources[0]);
  // A while loop whose trip count is the largest integer ends only by its condition.
  const bool is_open = loop.is_while && bound == Dim(std::numeric_limits<int64_t>::max());
  TN_REQUIRE(bound.has_value() && !is_open,
             "[gradient] expected a loop whose number of trips is a constant, a dim or the min of "
             "something and one of these, got the loop \"{}\" with trips of unknown bound",
             loop.body->name);
  std::vector<size_t> saved = differentiate(loop, tape);
  if (!loop.is_while && loop.sources[0]->op == Op::CONST && bound->value() > 3 &&
      state_bytes(loop, saved) * static_cast<double>(bound->value()) >
          static_cast<double>(backward_.options().kept_bytes)) {
    loop = in_segments(loop, bound->value());
    saved = differentiate(loop, tape);
  }
  const Dim rows = *Bounds().of(*loop.sources[0]);
  tape.rows = rows;
  tape.room = static_cast<double>(backward_.options().kept_bytes) /
                  std::max(1.0, static_cast<double>(rows.max())) -
              state_bytes(loop, saved);
  const std::vector<NodeRef> values = save_reductions(loop, tape);
  if (!values.empty()) saved = used_states(loop, tape);

  Graph body = *loop.body;
  const size_t carried_end = 1 + loop.carried;
  std::vector<NodeRef> initial(loop.sources.begin() + 1,
                               loop.sources.begin() + static_cast<std::ptrdiff_t>(carried_end));
  std::vector<NodeRef> added;  // params
  const NodeRef& trip = loop.body->params[0];
  const auto keep = [&](const std::string& name, const NodeRef& value) {
    Shape rows_of = value->shape;
    rows_of.insert(rows_of.begin(), rows);
    initial.push_back(builder_.constant(zero(value->dtype), rows_of));
    added.push_back(fresh_param(builder_, name, *initial.back(), value->dtype, body));
    body.outputs.push_back(with_row(added.back(), trip, value, builder_));
  };
  for (const size_t j : saved) keep("kept" + std::to_string(j), loop.body->params[1 + j]);
  for (size_t i = 0; i < values.size(); ++i) keep("value" + std::to_string(i), values[i]);
  if (loop.is_while) {
    initial.push_back(number(0, builder_));
    added.push_back(fresh_param(builder_, "done", *trip, DType::kI64, body));
    body.outputs.push_back(builder_.binary(Op::ADD, trip, number(1, builder_)));
  }
  body.output_names.assign(body.outputs.size(), "");
  // The added params are carried values, which come before captured ones.
  const auto begin = body.params.begin() + static_cast<std::ptrdiff_t>(carried_end);
  std::rotate(begin, body.params.end() - static_cast<std::ptrdiff_t>(added.size()),
              body.params.end());

  Taped out;
  out.loop.sources = {loop.sources[0]};
  out.loop.sources.insert(out.loop.sources.end(), initial.begin(), initial.end());
  out.loop.sources.insert(out.loop.sources.end(),
                          loop.sources.begin() + static_cast<std::ptrdiff_t>(carried_end),
                          loop.sources.end());
  out.loop.body = std::make_shared<const Graph>(std::move(body));
  out.loop.carried = initial.size();
  out.loop.is_while = loop.is_while;
  const auto result = [&](size_t r) {
    return builder_.make(Op::LOOP, DType::kVoid, {}, out.loop.sources,
                         LoopAttr{out.loop.body, static_cast<int>(out.loop.carried), loop.is_while,
                                  static_cast<int>(r)});
  };
  tape.saved.resize(loop.carried);
  for (size_t i = 0; i < saved.size(); ++i) tape.saved[saved[i]] = result(loop.carried + i);
  for (size_t i = 0; i < values.size(); ++i)
    tape.values.push_back(result(loop.carried + saved.size() + i));
  tape.trips = loop.sources[0];
  if (loop.is_while) {  // bounded by the maximum, for second derivatives
    const NodeRef most = rows.is_const() ? number(rows.value(), builder_) : builder_.dim(rows);
    tape.trips =
        builder_.binary(Op::MIN, result(loop.carried + saved.size() + values.size()), most);
  }
  out.tape = std::move(tape);
  return out;
}

bool Taping::run(const std::vector<NodeRef>& order) {
  const auto is_taped = [&](const NodeRef& node) {
    return node->op == Op::LOOP && backward_.needs_adjoint(node);
  };
  if (std::ranges::none_of(order, is_taped)) return false;
  std::map<std::pair<const Graph*, std::vector<const Node*>>, Taped> loops;
  remap_into(
      order, builder_, rebuilt_, [&](const NodeRef& node, const std::vector<NodeRef>& sources) {
        if (!is_taped(node)) return NodeRef();
        const auto& attr = node->as<LoopAttr>();
        std::vector<const Node*> key;
        for (const NodeRef& source : sources) key.push_back(source.get());
        auto [at, is_new] = loops.try_emplace({attr.body.get(), std::move(key)});
        if (is_new)
          at->second =
              taped(node, {sources, attr.body, static_cast<size_t>(attr.carried), attr.is_while});
        const Loop& loop = at->second.loop;
        NodeRef made = builder_.make(
            Op::LOOP, DType::kVoid, {}, loop.sources,
            LoopAttr{loop.body, static_cast<int>(loop.carried), loop.is_while, attr.result});
        backward_.tapes_.emplace(made.get(), at->second.tape);
        return made;
      });
  return true;
}

std::vector<NodeRef> Taping::rebuilt(const std::vector<NodeRef>& nodes) const {
  std::vector<NodeRef> out;
  for (const NodeRef& node : nodes) {
    const NodeRef* made = rebuilt_.find(node.get());
    out.push_back(made ? *made : node);
  }
  return out;
}

}  // namespace tenon::autodiff
