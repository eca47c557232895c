// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of random graphs: a layer of cases, and their proof on the reference.
#include <catch2/catch_test_macros.hpp>

#include "conformance/cases/generator.hpp"
#include "conformance/cases/graphs/graphs.hpp"
#include "conformance/cases/plan.hpp"
#include "conformance/judge/gradient_proof.hpp"
#include "core/ir/text/text.hpp"
#include "core/ir/verify.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using namespace tenon::conformance;

TEST_CASE("gradients of random graphs are proven on the reference") {
  std::map<judge::Proof, int> counts;
  for (uint64_t i = 0; i < 600; ++i) {
    Builder builder;
    Choices choices(mix(11, i));
    const graphs::Template shape = graphs::build_graph(choices, builder);
    const Case test = graphs::instantiate(shape, 11, 4 * i + 1, mix(12, i));
    const judge::GradientProof proof = judge::prove_gradient(test, mix(13, i), builder);
    INFO(print(test.graph));
    INFO(proof.reason);
    CHECK(proof.proof != judge::Proof::kWrong);
    ++counts[proof.proof];
  }
  CHECK(counts[judge::Proof::kProven] > 350);
}

TEST_CASE("a wrong gradient is found") {
  // A composite whose own gradient is that of another function.
  Builder builder;
  Case test;
  test.graph = parse_graph(R"(graph g(%x: f64[3]) {
    graph square(%a: f64[3]) {
      %y = mul %a, %a
      return %y
    }
    graph wrong(%a: f64[3], %y: f64[3], %g: f64[3]) {
      %p = mul %g, %a
      return %p
    }
    %y = call %x, body=square, gradient=wrong
    return %y
  })",
                           builder);
  test.inputs = {Array::zeros(DType::kF64, {3})};
  for (int64_t i = 0; i < 3; ++i)
    test.inputs[0].set(i, Scalar::of(DType::kF64, 1 + static_cast<double>(i)));
  const judge::GradientProof proof = judge::prove_gradient(test, 1, builder);
  CHECK(proof.proof == judge::Proof::kWrong);
  CHECK(proof.reason.find("central differences") != std::string::npos);
}

TEST_CASE("the layer of gradients is drawn, legal, and has gradients among its outputs") {
  Builder builder;
  Generator generator(5, builder);
  int drawn = 0, differentiated = 0;
  for (uint64_t i = 400 * kBlock; drawn < 60 && i < 900 * kBlock; i += 4) {
    if (kLayerNames[static_cast<size_t>(layer_of(plan_case(5, i)))] != "gradients") continue;
    ++drawn;
    const Case test = generator.make(i);
    REQUIRE_NOTHROW(verify(test.graph));
    CHECK(test.cell.op == "graph");
    differentiated += test.cell.layout == "gradient";
  }
  CHECK(drawn == 60);
  CHECK(differentiated > 30);
}
