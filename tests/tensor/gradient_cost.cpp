// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What gradients cost in kernels.
#include <catch2/catch_test_macros.hpp>

#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

RunStats stats_of(const std::vector<Tensor>& tensors) {
  Context& context = tensors[0].context();
  const Collected collected = collect(builder_of(context), nodes_in(context, tensors));
  RunStats stats;
  runtime_of(context).run(collected.graph, collected.inputs, {}, &stats);
  return stats;
}

}  // namespace

TEST_CASE("the gradient of a concatenation is made of views") {
  on_each_device([](Context& context) {
    const Tensor a = Tensor::randn({8, 4}, 1, context), b = Tensor::randn({8, 6}, 2, context);
    const Tensor seed = Tensor::randn({8, 10}, 3, context);
    Tensor::realize({a, b, seed});
    const Tensor all = Tensor::cat({a, b}, 1);
    const std::vector<Tensor> g = gradient(all, {a, b}, seed);
    // Of an update that reads the gradients, no kernel is theirs.
    const int plain =
        stats_of({a - seed.slice({{}, Slice{0, 4}}), b - seed.slice({{}, Slice{4, 10}})}).kernels;
    CHECK(stats_of({a - g[0], b - g[1]}).kernels == plain);
    CHECK(stats_of({a - g[0]}).kernels == 1);
  });
}
