// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared memory that one reduction may have and several together may not.
#include <catch2/catch_test_macros.hpp>

#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;

TEST_CASE("several reductions share what a workgroup has") {
  Builder builder;
  Graph graph;
  for (int i = 0; i < 6; ++i) {
    graph.params.push_back(builder.param("x" + std::to_string(i), DType::kF32, {Dim(256)}));
    graph.outputs.push_back(builder.reduce(Op::ADD, graph.params.back(), {0}));
  }
  graph.output_names.resize(graph.outputs.size());
  Capabilities caps = software_like();
  const uint32_t together = lower(graph, caps, "", true).program.get()->shared_bytes;
  REQUIRE(together > 0);  // they do meet in shared memory
  caps.max_shared_bytes = together - 1;
  CHECK(lower(graph, caps, "", true).program.get()->shared_bytes < together);
}
