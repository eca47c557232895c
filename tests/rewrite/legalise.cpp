// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// legalise: nothing unclaimed is left, and values stay inside of what intervals allow.
#include "core/interval/interval.hpp"
#include "core/ir/text/text.hpp"
#include "core/ir/verify.hpp"
#include "core/rewrite/passes.hpp"
#include "core/support/error.hpp"
#include "tests/rewrite/random_graph.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tenon;

namespace {

/// Stores everything, computes on bool, 32 and 64 bits, claims no optional op.
Capabilities minimal() {
  Capabilities c;
  for (const DType dtype : all_dtypes()) {
    DTypeCaps& caps = c.dtypes[static_cast<size_t>(dtype)];
    caps.storage = true;
    caps.arithmetic = dtype == DType::kBool || dtype_size(dtype) >= 4;
  }
  return c;
}

Graph legalised_graph(const std::vector<NodeRef>& params, const NodeRef& output) {
  Graph g;
  g.params = params;
  g.outputs = {output};
  g.output_names = {""};
  return g;
}

}  // namespace

TEST_CASE("each optional op on each dtype, on random values") {
  const Capabilities caps = minimal();
  const Profile profile = Profile::of(caps);
  for (const OpInfo& info : all_ops()) {
    if (!is_elementwise(info.op) || info.level == OpLevel::PROGRAM || info.op == Op::CAST) continue;
    for (const DType dtype : all_dtypes()) {
      Builder b;
      test::RandomGraph r(b, static_cast<uint64_t>(info.op) * 100 + static_cast<uint64_t>(dtype));
      if (!r.takes(info.types, dtype)) continue;
      const int64_t n = 600;
      std::vector<NodeRef> params;
      std::vector<Array> inputs;
      for (int i = 0; i < info.arity; ++i) {
        const DType type = info.op == Op::WHERE && i == 0 ? DType::kBool : dtype;
        params.push_back(b.param("p" + std::to_string(i), type, {Dim(n)}));
        inputs.push_back(r.array(type, {n}));
        if ((info.op == Op::SHL || info.op == Op::SHR) && i == 1)
          for (int64_t k = 0; k < n; ++k)
            if (k % 4) inputs[1].set(k, Scalar::of_int(dtype, k % 67));
      }
      const Graph graph =
          legalised_graph(params, b.make(info.op, DType::kVoid, {}, params, std::monostate()));
      const Graph legal = legalise(graph, caps, b);
      verify(legal);
      for (const NodeRef& node : topological(legal.outputs)) {
        CHECK((!is_optional(node->op) || !is_elementwise(node->op)));
        if (is_elementwise(node->op) && node->op != Op::CAST)
          CHECK((node->dtype == DType::kBool || dtype_size(node->dtype) >= 4));
      }
      const auto allowed = evaluate_intervals(graph, inputs, {}, profile);
      const auto got = evaluate(legal, inputs);
      for (int64_t k = 0; k < n; ++k) {
        INFO(info.text << " " << dtype_name(dtype) << " of " << to_string(inputs[0].at(k))
                       << (info.arity > 1 ? ", " + to_string(inputs[1].at(k)) : "") << ": "
                       << to_string(allowed[0].value.at(k)) << " but got "
                       << to_string(got[0].at(k)));
        REQUIRE(accepts(allowed[0], k, got[0].at(k), profile));
      }
    }
  }
}

TEST_CASE("random graphs stay inside their intervals") {
  const Capabilities caps = minimal();
  const Profile profile = Profile::of(caps);
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Builder builder;
    test::RandomGraph r(builder, seed);
    r.grow(1 + seed % 3, 2 + seed % 12);
    const Graph legal = legalise(simplify(r.graph, builder), caps, builder);
    verify(legal);
    const std::vector<Array> inputs = r.inputs();
    const auto allowed = evaluate_intervals(r.graph, inputs, {}, profile);
    const auto got = evaluate(legal, inputs);
    for (size_t i = 0; i < got.size(); ++i)
      for (int64_t k = 0; k < got[i].count(); ++k) {
        INFO("seed " << seed << " output " << i << " element " << k << ": "
                     << to_string(allowed[i].value.at(k)) << " but got " << to_string(got[i].at(k))
                     << "\n"
                     << print(r.graph) << print(legal));
        REQUIRE(accepts(allowed[i], k, got[i].at(k), profile));
      }
  }
}

TEST_CASE("exp and cos lose little in their decompositions") {
  const Capabilities caps = minimal();
  for (const DType dtype : {DType::kF32, DType::kF64})
    for (const Op op : {Op::EXP, Op::LN}) {
      Builder b;
      const int64_t n = 4000;
      const NodeRef x = b.param("x", dtype, {Dim(n)});
      const Graph graph = legalised_graph({x}, b.unary(op, x));
      Array input = Array::zeros(dtype, {n});
      for (int64_t i = 0; i < n; ++i)
        input.set(i,
                  Scalar::of(dtype, op == Op::EXP ? (double(i) - 2000) / 24 : double(i + 1) / 9));
      const Array want = evaluate(graph, {input})[0];
      const Array got = evaluate(legalise(graph, caps, b), {input})[0];
      double worst = 0;
      for (int64_t i = 0; i < n; ++i) worst = std::max(worst, ulp_distance(got.at(i), want.at(i)));
      INFO(op_info(op).text << " " << dtype_name(dtype));
      CHECK(worst <= 2);
    }
}

TEST_CASE("what no device can do is refused with a reason") {
  Builder b;
  Capabilities caps = minimal();
  caps.dtypes[static_cast<size_t>(DType::kF64)] = {};
  const NodeRef x = b.param("x", DType::kF64, {Dim(4)});
  const NodeRef f = b.param("f", DType::kF32, {Dim(4)});
  using Catch::Matchers::ContainsSubstring;
  using Catch::Matchers::MessageMatches;
  REQUIRE_THROWS_MATCHES(legalise(legalised_graph({x}, b.binary(Op::ADD, x, x)), caps, b), Error,
                         MessageMatches(ContainsSubstring("f64")));
  REQUIRE_THROWS_MATCHES(legalise(legalised_graph({f}, b.cast(f, DType::kF64)), caps, b), Error,
                         MessageMatches(ContainsSubstring("[cast]")));
  caps.dtypes[static_cast<size_t>(DType::kF64)].storage = true;
  REQUIRE_THROWS_MATCHES(legalise(legalised_graph({x}, b.unary(Op::SQRT, x)), caps, b), Error,
                         MessageMatches(ContainsSubstring("arithmetic on f64")));
}

TEST_CASE("the sign of NaN is flipped whatever is claimed") {
  struct Row {
    DType dtype, bits;
  };
  constexpr Row kRows[] = {{DType::kF16, DType::kU16},
                           {DType::kBF16, DType::kU16},
                           {DType::kF32, DType::kU32},
                           {DType::kF64, DType::kU64}};
  for (const auto& [dtype, bits] : kRows)
    for (const bool is_claimed : {false, true}) {
      INFO(dtype_name(dtype) << (is_claimed ? ", claimed" : ""));
      Builder b;
      Capabilities caps = minimal();  // narrow floats are widened
      const auto neg = static_cast<uint32_t>(Op::NEG);
      if (is_claimed) caps.native_ops[neg >> 6] |= uint64_t{1} << (neg & 63);
      const NodeRef x = b.param("x", dtype, {Dim(2)});
      const Graph graph = legalised_graph({x}, b.bit_cast(b.unary(Op::NEG, x), bits));
      const Graph legal = legalise(graph, caps, b);
      const uint64_t sign = uint64_t{1} << (dtype_bits(dtype) - 1);
      Array nan = Array::zeros(dtype, {2});  // one bit of the mantissa, and all
      nan.set(0, {dtype, highest(dtype).bits + 1});
      nan.set(1, {dtype, sign - 1});
      const Array got = evaluate(legal, {nan})[0];
      for (int i = 0; i < 2; ++i) CHECK(got.at(i).bits == (nan.at(i).bits ^ sign));
      const auto allowed = evaluate_intervals(graph, {nan}, {}, Profile::of(caps));
      CHECK(allowed[0].exact());
    }
}

TEST_CASE("what is claimed stays") {
  Builder b;
  const NodeRef x = b.param("x", DType::kF16, {Dim(4)});
  const NodeRef y = b.unary(Op::EXP, b.binary(Op::SUB, x, b.unary(Op::NEG, x)));
  CHECK(legalise(legalised_graph({x}, b.unary(Op::EXP, x)), generic_capabilities(), b).outputs[0] ==
        b.unary(Op::EXP, x));
  CHECK(legalise(legalised_graph({x}, y), generic_capabilities(), b).outputs[0]->op == Op::EXP);
}

TEST_CASE("a smallest element without MIN, on each dtype, also of nothing") {
  const Capabilities caps = minimal();
  for (const DType dtype : all_dtypes()) {
    INFO(dtype_name(dtype));
    Builder b;
    test::RandomGraph r(b, static_cast<uint64_t>(dtype));
    for (const int64_t n : {0, 1, 37}) {
      const NodeRef x = b.param("x", dtype, {Dim(5), Dim(n)});
      const Graph graph = legalised_graph({x}, b.reduce(Op::MIN, x, {1}));
      const Graph legal = legalise(graph, caps, b);
      verify(legal);
      for (const NodeRef& node : topological(legal.outputs))
        if (node->op == Op::REDUCE) CHECK(node->as<ReduceAttr>().op != Op::MIN);
      const std::vector<Array> inputs{r.array(dtype, {5, n})};
      const Profile profile = Profile::of(caps);
      const auto allowed = evaluate_intervals(graph, inputs, {}, profile);
      const auto got = evaluate(legal, inputs);
      for (int64_t k = 0; k < 5; ++k) CHECK(accepts(allowed[0], k, got[0].at(k), profile));
    }
  }
}
