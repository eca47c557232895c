// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/autodiff/numeric.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "core/ir/substitute.hpp"
#include "core/ir/verify.hpp"

namespace tenon::test {
namespace {

double dot(const Array& a, const Array& b, double& scale) {
  double sum = 0;
  for (int64_t i = 0; i < a.count(); ++i) {
    const double term = a.at(i).as_double() * b.at(i).as_double();
    sum += term;
    scale += std::abs(term);
  }
  return sum;
}

Array drawn(DType dtype, std::vector<int64_t> shape, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-2, 2);
  Array out = Array::zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < out.count(); ++i) out.set(i, Scalar::of(dtype, uniform(random)));
  return out;
}

Array moved(const Array& x, const Array& v, double step) {
  Array out = x;
  for (int64_t i = 0; i < x.count(); ++i)
    out.set(i, Scalar::of(x.dtype, x.at(i).as_double() + step * v.at(i).as_double()));
  return out;
}

}  // namespace

Array array_of(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  Array out = Array::zeros(dtype, std::move(shape));
  REQUIRE(out.count() == static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    out.set(static_cast<int64_t>(i), Scalar::of(dtype, values[i]));
  return out;
}

Numeric directional(const std::string& text, uint64_t seed, const Given& given,
                    const GradientOptions& options, double step) {
  Builder builder;
  const Graph graph = parse_graph(text, builder);
  std::mt19937_64 random(seed);
  SymbolValues symbols;
  for (const Expr& symbol : graph.symbols)
    symbols[symbol.name()] = std::min<int64_t>(symbol.max(), 5);
  std::vector<Array> inputs, up, down, tangents;
  std::vector<NodeRef> wrt, tangent_nodes;
  for (const NodeRef& param : graph.params) {
    std::vector<int64_t> shape = concrete_shape(param->shape, symbols);
    const auto at = given.find(param->as<ParamAttr>().name);
    inputs.push_back(at == given.end() ? drawn(param->dtype, std::move(shape), random)
                                       : array_of(param->dtype, std::move(shape), at->second));
    const Array& x = inputs.back();
    if (is_float(param->dtype)) {
      wrt.push_back(param);
      tangents.push_back(drawn(param->dtype, x.shape, random));
      tangent_nodes.push_back(
          builder.param("tangent" + std::to_string(wrt.size()), param->dtype, param->shape));
      up.push_back(moved(x, tangents.back(), step));
      down.push_back(moved(x, tangents.back(), -step));
    } else {
      up.push_back(x);
      down.push_back(x);
    }
  }
  const NodeRef output = graph.outputs[0];
  const NodeRef seed_node = builder.param("seed", output->dtype, output->shape);
  const Array weights = drawn(output->dtype, concrete_shape(output->shape, symbols), random);

  Graph reverse = graph;
  reverse.params.push_back(seed_node);
  const Gradients gradients = vector_jacobian({output}, {seed_node}, wrt, builder, options);
  reverse.outputs = {gradients.outputs[0]};
  std::vector<size_t> of;
  for (size_t i = 0; i < wrt.size(); ++i) {
    if (!gradients.of[i]) continue;
    CHECK(gradients.of[i]->dtype == wrt[i]->dtype);
    CHECK(gradients.of[i]->shape == wrt[i]->shape);
    of.push_back(i);
    reverse.outputs.push_back(gradients.of[i]);
  }
  reverse.output_names.clear();
  verify(reverse);
  // What is printed is what was made.
  Builder other;
  CHECK(same_structure(parse_graph(print(reverse), other), reverse));
  verify(inline_calls(reverse, builder));

  Graph forward = graph;
  forward.outputs = {jacobian_vector({output}, wrt, tangent_nodes, builder, options)[0]};
  forward.output_names.clear();
  for (const NodeRef& node : tangent_nodes) forward.params.push_back(node);
  verify(forward);

  std::vector<Array> with_seed = inputs, with_tangents = inputs;
  with_seed.push_back(weights);
  with_tangents.insert(with_tangents.end(), tangents.begin(), tangents.end());
  Numeric out;
  const std::vector<Array> reversed = evaluate(reverse, with_seed, symbols);
  const Array value = evaluate(graph, inputs, symbols)[0];
  CHECK(reversed[0].bytes == value.bytes);
  for (size_t i = 0; i < of.size(); ++i)
    out.analytic += dot(reversed[1 + i], tangents[of[i]], out.scale);
  double unused = 0;
  out.forward = dot(evaluate(forward, with_tangents, symbols)[0], weights, unused);
  const Array above = evaluate(graph, up, symbols)[0], below = evaluate(graph, down, symbols)[0];
  for (int64_t i = 0; i < above.count(); ++i)
    out.numeric += weights.at(i).as_double() * (above.at(i).as_double() - below.at(i).as_double()) /
                   (2 * step);
  out.scale = std::max(out.scale, 1.0);
  return out;
}

void check_gradient(const std::string& text, const Given& given, const GradientOptions& options,
                    double tolerance) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const Numeric got = directional(text, seed, given, options);
    INFO(text);
    INFO("seed " << seed << ": reverse " << got.analytic << ", forward " << got.forward
                 << ", central differences " << got.numeric << ", terms " << got.scale);
    CHECK(std::abs(got.analytic - got.numeric) <= tolerance * got.scale);
    CHECK(std::abs(got.analytic - got.forward) <= 1e-9 * got.scale);
  }
}

}  // namespace tenon::test
