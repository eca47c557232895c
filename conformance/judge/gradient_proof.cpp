// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/gradient_proof.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "conformance/cases/graphs/gradients.hpp"
#include "conformance/cases/random.hpp"
#include "core/autodiff/autodiff.hpp"
#include "core/support/error.hpp"
#include "core/support/flat_map.hpp"

namespace tenon::conformance::judge {
namespace {

constexpr double kTolerance = 1e-6, kDotTolerance = 1e-9;

DType wide(DType dtype) { return is_float(dtype) ? DType::kF64 : dtype; }

/// Of a constant, which must not be so large that it swallows what is added to it: a difference of
/// such sums says nothing.
Scalar wide(const Scalar& value) {
  if (!is_float(value.dtype)) return value;
  const double x = value.as_double();
  return Scalar::of(DType::kF64, std::isfinite(x) ? std::clamp(x, -1e3, 1e3) : x);
}

/// The same graph on f64 for every float.
class Widening {
 public:
  explicit Widening(Builder& builder) : builder_(builder) {}

  /// Nothing for what reads the bits of a float.
  std::optional<Graph> run(const Graph& graph) {
    Graph out = graph;
    FlatMap<const Node*, NodeRef> made;
    for (NodeRef& param : out.params) {
      const NodeRef own = param;
      param = remade(own, {});
      made.try_emplace(own.get(), param);
    }
    for (const NodeRef& node : topological(graph.outputs)) {
      if (made.contains(node.get())) continue;
      std::vector<NodeRef> sources;
      for (const NodeRef& source : node->sources) sources.push_back(made.at(source.get()));
      NodeRef copy = remade(node, std::move(sources));
      if (!copy) return std::nullopt;
      made.try_emplace(node.get(), std::move(copy));
    }
    for (NodeRef& output : out.outputs) output = made.at(output.get());
    return out;
  }

 private:
  NodeRef remade(const NodeRef& node, std::vector<NodeRef> sources) {
    Attr attr = node->attr;
    if (auto* constant = std::get_if<ConstAttr>(&attr)) {
      constant->value = wide(constant->value);
    } else if (auto* cast = std::get_if<CastAttr>(&attr)) {
      if (cast->bits && (is_float(node->dtype) || is_float(node->sources[0]->dtype)))
        return nullptr;
      if (is_float(node->dtype) && sources[0]->dtype == DType::kF64) return sources[0];
    } else if (auto* view = std::get_if<ViewAttr>(&attr)) {
      if (view->kind == ViewKind::kPad) view->fill = wide(view->fill);
    } else if (auto* reduce = std::get_if<ReduceAttr>(&attr)) {
      reduce->accumulator = wide(reduce->accumulator);
    } else if (auto* choice = std::get_if<IfAttr>(&attr)) {
      choice->then_graph = region(choice->then_graph);
      choice->else_graph = region(choice->else_graph);
      if (!choice->then_graph || !choice->else_graph) return nullptr;
    } else if (auto* loop = std::get_if<LoopAttr>(&attr)) {
      loop->body = region(loop->body);
      if (!loop->body) return nullptr;
    }
    return builder_.make(node->op, wide(node->dtype), node->shape, std::move(sources),
                         std::move(attr));
  }

  GraphRef region(const GraphRef& graph) {
    auto [known, is_new] = regions_.try_emplace(graph.get());
    if (is_new)
      if (auto made = run(*graph)) known->second = std::make_shared<const Graph>(*std::move(made));
    return known->second;
  }

  Builder& builder_;
  std::map<const Graph*, GraphRef> regions_;
};

Array widened(const Array& x, Random& random) {
  if (!is_float(x.dtype)) return x;
  Array out = Array::zeros(DType::kF64, x.shape);
  for (int64_t i = 0; i < x.count(); ++i) {
    // Off the grid of narrow floats, where values are equal by chance.
    const double value = x.at(i).as_double();
    out.set(i, Scalar::of(DType::kF64, value * (1 + 1e-3 * (random.unit() - 0.5)) +
                                           1e-4 * (random.unit() - 0.5)));
  }
  return out;
}

Array drawn(const std::vector<int64_t>& shape, Random& random) {
  Array out = Array::zeros(DType::kF64, shape);
  for (int64_t i = 0; i < out.count(); ++i)
    out.set(i, Scalar::of(DType::kF64, 2 * random.unit() - 1));
  return out;
}

struct Sum {
  double value = 0, terms = 0;
  void add(const Array& a, const Array& b) {
    for (int64_t i = 0; i < a.count(); ++i) {
      const double y = b.at(i).as_double();
      const double term = y == 0 ? 0 : a.at(i).as_double() * y;
      value += term;
      terms += std::abs(term);
    }
  }
};

class Prover {
 public:
  Prover(const Case& test, uint64_t seed, Builder& builder)
      : test_(test), random_(seed), builder_(builder) {}

  GradientProof run() {
    const auto graph = Widening(builder_).run(test_.graph);
    if (!graph) return {};
    const auto made = graphs::differentiate(*graph, builder_);
    if (!made) return {};
    draw(*graph, *made);
    std::vector<NodeRef> tangents;
    for (size_t i = 0; i < made->wrt.size(); ++i)
      tangents.push_back(
          builder_.param("tangent" + std::to_string(i), DType::kF64, made->wrt[i]->shape));
    value_ = graph_of(*graph, float_outputs(*graph), {});
    const std::vector<Array> values = evaluate(value_, inputs_, test_.symbols);
    for (size_t o = 0; o < values.size(); ++o) {
      seeds_.push_back(drawn(values[o].shape, random_));
      for (int64_t i = 0; i < values[o].count(); ++i)
        if (!std::isfinite(values[o].at(i).as_double())) seeds_[o].set(i, zero(DType::kF64));
    }
    Sum back, forward;
    const std::vector<Array> gradients =
        evaluate(graph_of(*graph, made->gradients, made->seeds), with(seeds_), test_.symbols);
    for (size_t i = 0; i < gradients.size(); ++i) back.add(gradients[i], directions_[i]);
    const std::vector<NodeRef> along =
        jacobian_vector(value_.outputs, made->wrt, tangents, builder_);
    for (size_t o = 0; o < along.size(); ++o)
      if (along[o])
        forward.add(
            evaluate(graph_of(*graph, {along[o]}, tangents), with(directions_), test_.symbols)[0],
            seeds_[o]);
    return judged(back, forward);
  }

 private:
  void draw(const Graph& graph, const graphs::Differentiated& made) {
    for (const Array& input : test_.inputs) inputs_.push_back(widened(input, random_));
    for (const NodeRef& leaf : made.wrt) {
      const auto at = std::ranges::find(graph.params, leaf);
      places_.push_back(static_cast<size_t>(at - graph.params.begin()));
      directions_.push_back(drawn(inputs_[places_.back()].shape, random_));
    }
  }

  static std::vector<NodeRef> float_outputs(const Graph& graph) {
    std::vector<NodeRef> out;
    std::ranges::copy_if(graph.outputs, std::back_inserter(out),
                         [](const NodeRef& node) { return is_float(node->dtype); });
    return out;
  }

  static Graph graph_of(const Graph& like, std::vector<NodeRef> outputs,
                        const std::vector<NodeRef>& more_params) {
    Graph out = like;
    out.params.insert(out.params.end(), more_params.begin(), more_params.end());
    out.outputs = std::move(outputs);
    out.output_names.clear();
    return out;
  }

  std::vector<Array> with(const std::vector<Array>& more) const {
    std::vector<Array> out = inputs_;
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  /// Of the seeded outputs, central.
  struct Difference {
    double value = 0;
    double noise = 0;  ///< what the rounding of the outputs makes of it
  };
  Difference difference(double step) const {
    Difference out;
    for (const double sign : {1.0, -1.0}) {
      std::vector<Array> moved = inputs_;
      for (size_t i = 0; i < places_.size(); ++i) {
        Array& x = moved[places_[i]];
        for (int64_t k = 0; k < x.count(); ++k)
          x.set(k, Scalar::of(DType::kF64, x.at(k).as_double() +
                                               sign * step * directions_[i].at(k).as_double()));
      }
      const std::vector<Array> values = evaluate(value_, moved, test_.symbols);
      Sum sum;
      for (size_t o = 0; o < values.size(); ++o) sum.add(values[o], seeds_[o]);
      out.value += sign * sum.value / (2 * step);
      out.noise += 1e-15 * sum.terms / (2 * step);
    }
    return out;
  }

  GradientProof judged(const Sum& back, const Sum& forward) const {
    // Where all is next to nothing, what is left is the rounding of sums inside that cancel.
    const double scale = std::max({back.terms, forward.terms, 1e-3});
    if (!std::isfinite(back.value) || !std::isfinite(forward.value)) return {Proof::kNotFinite, ""};
    if (!(std::abs(back.value - forward.value) <= kDotTolerance * scale))
      return {Proof::kWrong,
              fmt::format("backward gives {:.17g}, forward {:.17g}, of terms of {:.3g} together",
                          back.value, forward.value, scale)};
    // A kink that is nearer than a step is passed unseen by the greater ones.
    GradientProof out{Proof::kNotSmooth, ""};
    double before = NAN;
    for (const double step : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
      const Difference got = difference(step);
      if (std::abs(got.value - back.value) <= kTolerance * scale) return {Proof::kProven, ""};
      if (std::abs(got.value - before) <= kTolerance * scale && got.noise <= kTolerance * scale)
        out = {Proof::kWrong,
               fmt::format("the gradient gives {:.17g}, central differences {:.17g}, of terms of "
                           "{:.3g} together",
                           back.value, got.value, scale)};
      before = got.value;
    }
    return out;
  }

  const Case& test_;
  Random random_;
  Builder& builder_;
  Graph value_;
  std::vector<Array> inputs_, directions_, seeds_;
  std::vector<size_t> places_;  ///< of what is differentiated by, among the inputs
};

}  // namespace

GradientProof prove_gradient(const Case& test, uint64_t seed, Builder& builder) {
  return Prover(test, seed, builder).run();
}

}  // namespace tenon::conformance::judge
