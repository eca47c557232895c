// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shrinker on failures that are only predicates.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>

#include "conformance/cases/generator.hpp"
#include "conformance/shrink/edit.hpp"
#include "conformance/shrink/shrink.hpp"
#include "core/ir/verify.hpp"

using namespace tenon;
using namespace tenon::conformance;

namespace {

std::vector<NodeRef> nodes(const Case& test) { return topological(test.graph.outputs); }

bool has(const Case& test, Op op) {
  return std::ranges::any_of(nodes(test), [&](const NodeRef& node) { return node->op == op; });
}

int64_t elements(const Case& test) {
  int64_t most = 0;
  for (const Array& output : evaluate(test.graph, test.inputs, test.symbols))
    most = std::max(most, output.count());
  return most;
}

template <class Fails>
Probe probe(const Fails& fails) {
  return [&fails](const Case& candidate) -> std::optional<Outcome> {
    if (!fails(candidate)) return std::nullopt;
    return failed("mismatch", "");
  };
}

}  // namespace

TEST_CASE("a bug in one op shrinks to that op") {
  Builder builder;
  Generator generator(2, builder);
  int tried = 0;
  for (const Op op : {Op::SIN, Op::TAKE, Op::WHERE, Op::REDUCE, Op::STORE})
    for (uint64_t i = 0; i < 4000 && tried < 25; ++i) {
      const Case test = generator.make(i);
      if (test.cell.op != "graph" || !has(test, op) || nodes(test).size() < 8) continue;
      INFO("case 2:" << i << " " << op_info(op).text);
      const auto fails = [&](const Case& candidate) { return has(candidate, op); };
      const Case small = shrink(test, {}, probe(fails), builder, {.seconds = 20}).test;
      REQUIRE(has(small, op));
      verify(small.graph);
      CHECK(nodes(small).size() <= 4);
      CHECK(elements(small) <= 16);
      ++tried;
      if (tried % 5 == 0) break;
    }
  CHECK(tried == 25);
}

TEST_CASE("a bug past a size shrinks to that size") {
  Builder builder;
  const NodeRef x = builder.param("x", DType::kF32, {Dim(65), Dim(129)});
  const NodeRef y = builder.param("y", DType::kF32, {Dim(65), Dim(129)});
  Case test;
  const NodeRef sum = builder.reduce(Op::ADD, builder.binary(Op::MUL, x, y), {1});
  test.graph.params = {x, y};
  test.graph.outputs = {builder.unary(Op::SQRT, sum), builder.unary(Op::NEG, sum)};
  test.graph.output_names = {"", ""};
  test.inputs = {Array::zeros(DType::kF32, {65, 129}), Array::zeros(DType::kF32, {65, 129})};
  const auto fails = [](const Case& candidate) {
    return std::ranges::any_of(nodes(candidate), [](const NodeRef& node) {
      return node->op == Op::REDUCE && node->sources[0]->shape.back().value() >= 33;
    });
  };
  REQUIRE(fails(test));
  const Case small = shrink(test, {}, probe(fails), builder).test;
  CHECK(nodes(small).size() == 2);
  const Shape& shape = nodes(small)[0]->shape;
  CHECK(shape[0].value() == 1);
  CHECK(shape[1].value() == 33);
}

TEST_CASE("a bug of one value shrinks to that value among zeros and ones") {
  Builder builder;
  const NodeRef x = builder.param("x", DType::kF32, {Dim(50)});
  Case test;
  test.graph.params = {x};
  test.graph.outputs = {builder.unary(Op::SQRT, x)};
  test.graph.output_names = {""};
  test.inputs = {Array::zeros(DType::kF32, {50})};
  for (int64_t i = 0; i < 50; ++i)
    test.inputs[0].set(i, Scalar::of(DType::kF32, i == 20 ? 300 : 2.5 + static_cast<double>(i)));
  const auto fails = [](const Case& candidate) {
    for (int64_t i = 0; i < candidate.inputs[0].count(); ++i)
      if (candidate.inputs[0].at(i).as_double() == 300) return true;
    return false;
  };
  const Case small = shrink(test, {}, probe(fails), builder).test;
  int others = 0;
  for (int64_t i = 0; i < small.inputs[0].count(); ++i) {
    const double value = small.inputs[0].at(i).as_double();
    others += value != 300 && value != 0 && value != 1;
  }
  CHECK(small.inputs[0].count() == 1);
  CHECK(others == 0);
}

TEST_CASE("edits keep the values of what they keep") {
  Builder builder;
  Generator generator(4, builder);
  int edited = 0;
  for (uint64_t i = 0; i < 600; ++i) {
    const Case test = generator.make(i);
    if (test.refusal || test.sequence || test.graph.outputs[0]->op == Op::IF ||
        test.graph.outputs[0]->op == Op::LOOP)
      continue;
    INFO("case 4:" << i);
    const auto want = evaluate(test.graph, test.inputs, test.symbols);
    if (const auto fixed = with_static_shapes(test, builder)) {
      const auto got = evaluate(fixed->graph, fixed->inputs, {});
      for (size_t k = 0; k < want.size(); ++k) REQUIRE(got[k].bytes == want[k].bytes);
      ++edited;
    }
    const auto all = nodes(test);
    const auto cut = with_inputs_for(test, {all[all.size() / 2]}, evaluate_all(test), builder);
    if (!cut) continue;
    const auto got = evaluate(cut->graph, cut->inputs, cut->symbols);
    for (size_t k = 0; k < want.size(); ++k) REQUIRE(got[k].bytes == want[k].bytes);
    ++edited;
  }
  CHECK(edited > 100);
}
