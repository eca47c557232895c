// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random bits against the published vectors, and the numbers made of them.
#include "frontend/tensor/threefry.hpp"

#include <catch2/catch_test_macros.hpp>

#include "core/reference/reference.hpp"

using namespace tenon;

namespace {

std::pair<uint32_t, uint32_t> bits(uint32_t c0, uint32_t c1, uint32_t k0, uint32_t k1) {
  Builder builder;
  const auto word = [&](uint32_t value) {
    return builder.constant(Scalar{DType::kU32, value}, {});
  };
  const auto [x0, x1] = threefry2x32(builder, word(c0), word(c1), k0, k1);
  Graph graph;
  graph.outputs = {x0, x1};
  graph.output_names = {"x0", "x1"};
  const std::vector<Array> values = evaluate(graph, {});
  return {static_cast<uint32_t>(values[0].at(0).bits), static_cast<uint32_t>(values[1].at(0).bits)};
}

}  // namespace

TEST_CASE("threefry gives the known answers") {
  // Known-answer file of Random123 (kat_vectors, threefry2x32 with 20 rounds).
  CHECK(bits(0, 0, 0, 0) == std::pair(0x6b200159u, 0x99ba4efeu));
  CHECK(bits(~0u, ~0u, ~0u, ~0u) == std::pair(0x1cb996fcu, 0xbb002be7u));
  CHECK(bits(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344) ==
        std::pair(0xc4923a9cu, 0x483df7a0u));
}
