// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generator: the same case from the same seed and index, legal graphs, values that say
// something.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <iterator>
#include <map>
#include <set>

#include "conformance/cases/abi/check_order.hpp"
#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/graphs/cells.hpp"
#include "conformance/cases/graphs/graphs.hpp"
#include "conformance/cases/reproducer.hpp"
#include "conformance/judge/compare.hpp"
#include "core/ir/text/text.hpp"
#include "core/ir/verify.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::abi;
using namespace tenon::conformance::graphs;
using namespace tenon::conformance::judge;

namespace {

/// As most CPUs have it: narrow floats are computed in f32.
Profile strict_profile() {
  Profile profile = Profile::of(generic_capabilities());
  for (const DType dtype : {DType::kF8E4M3, DType::kF8E5M2, DType::kF16, DType::kBF16})
    profile.arithmetic[static_cast<size_t>(dtype)] = false;
  return profile;
}

std::string layer_of(const Case& test) {
  if (test.transform_seed) return "transforms";
  if (test.refusal) return "refusal";
  if (test.sequence) return "sequence";
  return test.cell.op == "graph" ? "graph" : "cell";
}

std::string reproducer_text(const Case& test) { return write_reproducer({test, {}, "any"}); }

}  // namespace

TEST_CASE("a case depends on its seed and index alone") {
  Builder first, second;
  Generator forward(7, first), backward(7, second);
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < 300; ++i) texts.push_back(reproducer_text(forward.make(i)));
  for (uint64_t i = 300; i-- > 0;) REQUIRE(reproducer_text(backward.make(i)) == texts[i]);
  CHECK(std::set<std::string>(texts.begin(), texts.end()).size() > 290);
  Builder third;
  Generator other(8, third);
  int same = 0;
  for (uint64_t i = 0; i < 300; ++i) same += reproducer_text(other.make(i)) == texts[i];
  CHECK(same < 10);
}

TEST_CASE("cases are legal, evaluate, and say something") {
  Builder builder;
  Generator generator(3, builder);
  const Profile profile = strict_profile();
  std::map<std::string, int> layers;
  int vacuous = 0, total = 0;
  size_t most_nodes = 0;
  const uint64_t first = 500 * kBlock;  // past the sweep
  for (uint64_t i = first; i < first + 2400; ++i) {
    INFO("case 3:" << i);
    Case test = generator.make(i);
    ++layers[layer_of(test)];
    if (test.refusal || test.sequence) continue;
    REQUIRE_NOTHROW(verify(test.graph));
    Expectation expectation = expect(test, profile);
    for (uint64_t attempt = 1; attempt < 5 && !vacuity(expectation).empty(); ++attempt)
      expectation = expect(generator.make(i, attempt), profile);
    ++total;
    vacuous += !vacuity(expectation).empty();
    if (test.cell.op == "graph" && test.cell.layout != "gradient")
      most_nodes = std::max(most_nodes, topological(test.graph.outputs).size());
  }
  CHECK(most_nodes >= 20);
  CHECK(most_nodes <= 70);  // attention alone, twice with its values, has some 60
  CHECK(vacuous * 100 < total * 3);
  CHECK(layers["cell"] > 800);
  for (const char* layer : {"graph", "transforms", "refusal"}) CHECK(layers[layer] > 10);
  if (!abi_checks().empty()) CHECK(layers["sequence"] > 50);
}

/// A sum of products of bytes or of bf16, of so many rows and columns that rules take dot products.
bool is_narrow_product(const NodeRef& node) {
  if (node->op != Op::REDUCE || node->as<ReduceAttr>().op != Op::ADD) return false;
  const NodeRef& terms = node->sources[0];
  const auto is_factor = [](NodeRef factor) {
    while (factor->op == Op::VIEW || factor->op == Op::CAST) factor = factor->sources[0];
    return factor->op == Op::PARAM && (factor->dtype == DType::kI8 || factor->dtype == DType::kU8 ||
                                       factor->dtype == DType::kBF16);
  };
  return terms->op == Op::MUL && terms->shape.size() == 3 && is_factor(terms->sources[0]) &&
         is_factor(terms->sources[1]) && dtype_size(terms->dtype) == 4 &&
         terms->shape[0].min() >= 8 && terms->shape[1].min() >= 8 && terms->shape[2].min() >= 4;
}

TEST_CASE("products of narrow numbers come often enough to find a wrong dot product") {
  Builder builder;
  Generator generator(3, builder);
  int products = 0;
  for (uint64_t i = 500 * kBlock; i < 500 * kBlock + 2400; ++i) {
    const Case test = generator.make(i);
    if (test.refusal || test.sequence) continue;
    for (const NodeRef& node : topological(test.graph.outputs)) products += is_narrow_product(node);
  }
  CHECK(products >= 24);
}

TEST_CASE("every second random list is of a device of other sizes") {
  Builder builder;
  Generator generator(3, builder);
  int lists = 0, sized = 0;
  std::set<uint64_t> caches;
  for (uint64_t i = 500 * kBlock; i < 500 * kBlock + 2400; ++i) {
    const Case test = generator.make(i);
    lists += test.transform_seed.has_value();
    sized += !test.sizes.empty();
    REQUIRE((test.sizes.empty() || test.transform_seed));
    for (const auto& [name, value] : test.sizes) {
      CHECK(is_device_size(name));
      if (name == "l3_bytes") caches.insert(value);
    }
    Capabilities own;
    own.l3_bytes = 7;
    const uint64_t seen = with_sizes(own, test.sizes).l3_bytes;
    CHECK(seen == (test.sizes.contains("l3_bytes") ? test.sizes.at("l3_bytes") : 7));
  }
  CHECK(lists > 50);
  CHECK(sized * 5 > lists);
  CHECK(sized * 5 < 4 * lists);
  CHECK(caches.size() == 3);
}

TEST_CASE("half of the random lists are of what kernels do otherwise than op by op") {
  int lists = 0, fused = 0;
  for (uint64_t i = 500 * kBlock; i < 1500 * kBlock; ++i) {
    const Plan plan = plan_case(3, i);
    lists += plan.transform_seed.has_value();
    fused += plan.transform_seed && (plan.spec.flags & kFused);
  }
  CHECK(lists > 2000);
  CHECK(fused * 5 > lists * 2);
  CHECK(fused * 5 < lists * 3);
  // Small, and with all that the rarer kinds of transforms want.
  Builder builder;
  int masks = 0, maxima = 0, again = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Choices choices(seed);
    const Template shape = build_graph(choices, builder, {}, kFused);
    verify(shape.graph);
    const std::vector<NodeRef> nodes = topological(shape.graph.outputs);
    CHECK(nodes.size() < 100);
    bool index = false, maximum = false;
    int sums = 0;
    for (const NodeRef& node : nodes) {
      index |= node->op == Op::INDEX;
      if (node->op != Op::REDUCE) continue;
      maximum |= node->as<ReduceAttr>().op == Op::MAX;
      sums += node->as<ReduceAttr>().op == Op::ADD;
    }
    masks += index;
    maxima += maximum && sums > 1;
    again += sums > 2;
  }
  CHECK(masks > 60);
  CHECK(maxima > 40);
  CHECK(again > 60);
}

TEST_CASE("fuzz begins with every check, and every op in every dtype") {
  Builder builder;
  Generator generator(11, builder);
  std::set<std::pair<std::string, std::string>> wanted, seen;
  for (const CellSpec& spec : all_cells())
    if (const Cell cell = describe(spec); spec.kind != CellKind::kRefusal)
      wanted.emplace(cell.op, cell.dtype);
  std::set<std::string> checks;
  for (uint64_t i = 0; i < 7000; ++i) {
    const Case test = generator.make(i);
    if (test.sequence && !test.sequence->check.empty()) checks.insert(test.sequence->check);
    if (!test.refusal) seen.emplace(test.cell.op, test.cell.dtype);
  }
  CHECK(checks.size() == abi_checks().size());
  for (const auto& [op, dtype] : wanted) {
    INFO(op << " " << dtype);
    CHECK(seen.contains({op, dtype}));
  }
}

TEST_CASE("run walks every cell and every check") {
  std::set<uint32_t> cells, checks, patterns;
  std::map<Layer, uint64_t> counts;
  for (uint64_t i = kRunBase; i < run_end(); ++i) {
    const TemplateSpec recipe = plan_case(5, i).spec;
    ++counts[recipe.layer];
    if (recipe.layer == Layer::kCell) cells.insert(recipe.number);
    if (recipe.layer == Layer::kCheck) checks.insert(recipe.number);
    if (recipe.layer == Layer::kPattern) patterns.insert(recipe.number);
  }
  CHECK(cells.size() == all_cells().size());
  CHECK(checks.size() == abi_checks().size());
  CHECK(counts[Layer::kGraph] > 1500);
  CHECK(counts[Layer::kPattern] > 900);
  CHECK(patterns.size() == abi::all_patterns().size());
}

TEST_CASE("quick checks come first, and slow ones soon after, once") {
  const uint64_t quick = abi::quick_check_count(), slow = abi_checks().size() - quick;
  CHECK(quick > 100);
  CHECK(slow > 10);
  for (const uint64_t begin : {uint64_t{0}, kRunBase}) {
    std::map<uint32_t, int> slow_seen;
    for (uint64_t i = 0; i < 16 * kBlock; ++i) {
      const TemplateSpec spec = plan_case(5, begin + i).spec;
      if (i < quick) {
        REQUIRE(spec.layer == Layer::kCheck);
        CHECK(spec.number == i);
      }
      if (spec.layer == Layer::kCheck && spec.number >= quick) ++slow_seen[spec.number];
    }
    CHECK(slow_seen.size() == slow);
    for (const auto& [number, times] : slow_seen) CHECK(times == 1);
  }
}

TEST_CASE("run begins with the quick checks, and is soon everywhere") {
  const uint64_t checks = (abi::quick_check_count() + kBlock - 1) / kBlock * kBlock;
  for (uint64_t i = 0; i < abi::quick_check_count(); ++i)
    REQUIRE(plan_case(5, kRunBase + i).spec.layer == Layer::kCheck);
  std::set<std::string> ops, dtypes, layouts, all_ops, all_dtypes, all_layouts;
  std::set<std::pair<std::string, std::string>> pairs, all_pairs;
  for (const CellSpec& spec : all_cells()) {
    const Cell cell = describe(spec);
    if (spec.kind == CellKind::kCast || spec.kind == CellKind::kBitCast) continue;
    all_ops.insert(cell.op);
    all_dtypes.insert(cell.dtype);
    all_layouts.insert(std::string(layout_name(spec.layout)));
    all_pairs.emplace(cell.op, cell.dtype);
  }
  std::set<int> layers;
  uint64_t i = checks;
  const auto walk = [&](uint64_t end) {
    for (; i < end; ++i) {
      const Plan plan = plan_case(5, kRunBase + i);
      layers.insert(layer_of(plan));
      if (plan.spec.layer != Layer::kCell) continue;
      const CellSpec& spec = all_cells()[plan.spec.number];
      const Cell cell = describe(spec);
      ops.insert(cell.op);
      dtypes.insert(cell.dtype);
      layouts.insert(std::string(layout_name(spec.layout)));
      pairs.emplace(cell.op, cell.dtype);
    }
  };
  // What a slow plugin gets through in half a minute.
  walk(checks + 480);
  CHECK(layers.size() == std::size(kLayerNames));  // the slow checks among them
  CHECK(std::ranges::includes(dtypes, all_dtypes));
  CHECK(std::ranges::includes(layouts, all_layouts));
  std::vector<std::string> missing;
  std::ranges::set_difference(all_ops, ops, std::back_inserter(missing));
  CHECK(missing.size() * 10 < all_ops.size());
  walk(checks + 1700);
  CHECK(std::ranges::includes(pairs, all_pairs));
}

TEST_CASE("twins have one structure in two dtypes, one after the other") {
  Builder builder;
  Generator generator(2, builder);
  int twins = 0;
  for (uint64_t block = 300; block < 600; ++block) {
    const uint64_t i = block * kBlock;
    if (!(plan_case(2, i).spec.flags & kWithConstant)) continue;
    const Case first = generator.make(i), second = generator.make(i + 2);
    twins += first.cell.op == second.cell.op && first.cell.dtype != second.cell.dtype &&
             first.cell.layout == second.cell.layout;
    CHECK(reproducer_text(first).substr(0, 40) != reproducer_text(second).substr(0, 40));
  }
  CHECK(twins > 5);
}

TEST_CASE("every cell makes a graph") {
  Builder builder;
  for (size_t i = 0; i < all_cells().size(); ++i) {
    const CellSpec& spec = all_cells()[i];
    INFO(describe(spec).op << " " << describe(spec).dtype << " " << describe(spec).layout);
    Choices choices(i);
    Template shape;
    REQUIRE_NOTHROW(shape = build_cell(spec, choices, builder));
    REQUIRE_NOTHROW(verify(shape.graph));
    for (const uint32_t flags :
         {kBig | 0u, kTailed | 0u, kWithConstant | 0u, kWithConstant | kOtherConstant | 0u}) {
      if (flags == kBig && !can_be_big(spec)) continue;
      REQUIRE_NOTHROW(shape = build_cell(spec, choices, builder, flags));
      REQUIRE_NOTHROW(verify(shape.graph));
    }
  }
}

TEST_CASE("every code of an 8-bit dtype is tried by run") {
  Builder builder;
  Choices choices(1);
  const CellSpec cell{.op = Op::NEG, .dtype = DType::kI8};
  REQUIRE(can_exhaust(cell));
  const Case test = instantiate(build_cell(cell, choices, builder, kExhaustive), 1, kRunBase, 0);
  std::set<uint64_t> codes;
  for (int64_t i = 0; i < test.inputs[0].count(); ++i) codes.insert(test.inputs[0].at(i).bits);
  CHECK(codes.size() == 256);
  const CellSpec pairs{.op = Op::IDIV, .dtype = DType::kU8};
  REQUIRE(can_exhaust(pairs));
  CHECK(product(build_cell(pairs, choices, builder, kExhaustive).graph.outputs[0]->shape).value() ==
        65536);
}

TEST_CASE("case names parse, and nothing else does") {
  CHECK(parse_case_name("7:1234") == std::pair<uint64_t, uint64_t>(7, 1234));
  for (const char* bad : {"", "7", ":", "7:", ":4", "7:x", "7:1:2", "-1:2"})
    CHECK_THROWS_AS(parse_case_name(bad), Error);
}
