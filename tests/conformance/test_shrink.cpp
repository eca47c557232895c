// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shrinker on failures that are only predicates.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <numeric>

#include "conformance/cases/generator.hpp"
#include "conformance/shrink/edit.hpp"
#include "conformance/shrink/minimise.hpp"
#include "conformance/shrink/shrink.hpp"
#include "conformance/shrink/size.hpp"
#include "core/ir/verify.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::abi;
using namespace tenon::conformance::shrink;

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
      const Case small = shrink::shrink(test, {}, probe(fails), builder, {.seconds = 20}).test;
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
  const Case small = shrink::shrink(test, {}, probe(fails), builder).test;
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
  const Case small = shrink::shrink(test, {}, probe(fails), builder).test;
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

TEST_CASE("a list that cannot be shorter is found by few tries") {
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  int tries = 0;
  const auto fails = [&](const std::vector<int>& rest) {
    ++tries;
    return std::ranges::find(rest, 17) != rest.end() && std::ranges::find(rest, 83) != rest.end();
  };
  CHECK(minimise(items, fails) == std::vector<int>{17, 83});
  CHECK(tries < 60);
  CHECK(minimise(items, [](const auto&) { return true; }).empty());
}

TEST_CASE("the first transform that changes the result is named, and the others go") {
  Builder builder;
  Case test;
  const NodeRef x = builder.param("x", DType::kF32, {Dim(8)});
  test.graph.params = {x};
  test.graph.outputs = {builder.unary(Op::NEG, x)};
  test.graph.output_names = {""};
  test.inputs = {Array::zeros(DType::kF32, {8})};
  test.transform_seed = 7;
  test.sizes = {{"compute_units", 5}, {"l2_bytes", 512}};
  Outcome outcome = failed("mismatch", "");
  outcome.transforms =
      "bind a0 grid.x\nsplit a0 4; fuse a0 a1; unroll a0.i; vectorize a1; unroll a2\nnone\n";
  // Unrolling what was split is wrong, and what was not split cannot be unrolled.
  const Shrunk small = shrink::shrink(
      test, outcome,
      [&](const Case& candidate) -> std::optional<Outcome> {
        if (!candidate.sizes.contains("l2_bytes")) return std::nullopt;
        if (candidate.transform_seed) return outcome;
        const std::string all = fmt::format("{}", fmt::join(candidate.transforms, "; "));
        const size_t split = all.find("split a0 4"), unroll = all.find("unroll a0.i");
        if (split == all.npos || unroll == all.npos || unroll < split) return std::nullopt;
        return outcome;
      },
      builder);
  CHECK(small.transform == "unroll a0.i (kernel 1)");
  CHECK_FALSE(small.test.transform_seed);
  CHECK(small.test.transforms == std::vector<std::string>{"none", "split a0 4; unroll a0.i"});
  CHECK(small.test.sizes == DeviceSizes{{"l2_bytes", 512}});
}

TEST_CASE("a sequence of calls shrinks to those that it needs, with small numbers") {
  Builder builder;
  Case test;
  test.sequence.emplace();
  for (int64_t i = 0; i < 30; ++i)
    test.sequence->steps.push_back({i % 7 == 3 ? "copy" : "allocate", {i, 1000 - i}});
  const auto fails = [](const Case& candidate) {
    return std::ranges::any_of(candidate.sequence->steps, [](const SequenceStep& step) {
      return step.verb == "copy" && step.numbers[0] >= 9;
    });
  };
  const Case small = shrink::shrink(test, {}, probe(fails), builder).test;
  REQUIRE(small.sequence->steps.size() == 1);
  CHECK(small.sequence->steps[0].numbers == std::vector<int64_t>{9, 0});
}

TEST_CASE("no accepted step makes a case larger") {
  Builder builder;
  Generator generator(6, builder);
  int tried = 0;
  for (uint64_t i = 6400; i < 9000 && tried < 12; ++i) {
    const Case test = generator.make(i);
    if (test.cell.op != "graph" || nodes(test).size() < 6) continue;
    INFO("case 6:" << i);
    const DType dtype = test.graph.outputs[0]->dtype;
    Size last = size_of(test);
    const auto fails = [&](const Case& candidate) {
      const bool same = std::ranges::any_of(nodes(candidate), [&](const NodeRef& node) {
        return node->dtype == dtype && node->sources.size() == 2;
      });
      if (same) {
        const Size size = size_of(candidate);
        CHECK(size <= last);
        last = size;
      }
      return same;
    };
    if (!fails(test)) continue;
    const Case small = shrink::shrink(test, {}, probe(fails), builder).test;
    CHECK(nodes(small).size() <= 3);
    CHECK(elements(small) <= 1);
    ++tried;
  }
  CHECK(tried == 12);
}

TEST_CASE("equal sizes that do not belong together shrink one by one") {
  Builder builder;
  const NodeRef x = builder.param("x", DType::kF32, {Dim(33), Dim(33)});
  const NodeRef y = builder.param("y", DType::kF32, {Dim(33), Dim(33)});
  Case test;
  const NodeRef turned = builder.permute(builder.binary(Op::MUL, x, y), {1, 0});
  test.graph.params = {x, y};
  test.graph.outputs = {builder.reduce(Op::ADD, turned, {0})};
  test.graph.output_names = {""};
  test.inputs = {Array::zeros(DType::kF32, {33, 33}), Array::zeros(DType::kF32, {33, 33})};
  const auto fails = [](const Case& candidate) {
    return std::ranges::any_of(nodes(candidate), [](const NodeRef& node) {
      return node->op == Op::REDUCE && node->sources[0]->shape[0].value() >= 20;
    });
  };
  const Case small = shrink::shrink(test, {}, probe(fails), builder).test;
  CHECK(nodes(small).size() == 2);
  CHECK(nodes(small)[0]->shape[0].value() == 20);
  CHECK(nodes(small)[0]->shape[1].value() == 1);
}
