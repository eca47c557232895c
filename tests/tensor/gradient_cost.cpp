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
    const Tensor a = normal(Key(1, context), {8, 4}), b = normal(Key(2, context), {8, 6});
    const Tensor seed = normal(Key(3, context), {8, 10});
    realize({a, b, seed});
    const Tensor all = concatenate({a, b}, 1);
    const std::vector<Tensor> g = grad(all, {a, b}, seed);
    // Of an update that reads the gradients, no kernel is theirs.
    const int plain =
        stats_of({a - seed.slice({{}, Slice{0, 4}}), b - seed.slice({{}, Slice{4, 10}})}).kernels;
    CHECK(stats_of({a - g[0], b - g[1]}).kernels == plain);
    CHECK(stats_of({a - g[0]}).kernels == 1);
  });
}

TEST_CASE("each part of a concatenation of many has a gradient of a few nodes") {
  on_each_device([](Context& context) {
    std::vector<Tensor> parts;
    for (int i = 0; i < 100; ++i) parts.push_back(full({3}, i, DType::kF32, context));
    const Tensor seed = normal(Key(3, context), {300});
    realize({seed});
    for (Tensor& part : parts) realize({part});
    const Tensor all = concatenate(parts);
    CHECK(stats_of({concatenate({parts.begin(), parts.begin() + 8})}).kernels == 1);
    const std::vector<Tensor> g = grad(all, parts, seed);
    CHECK(stats_of(grad(all.square().sum(), parts)).programs < 50);
    for (const size_t i : {0, 42, 99}) {
      CHECK(topological({node_of(g[i])}).size() < 100);
      const Tensor own =
          seed.slice({Slice{static_cast<int64_t>(3 * i), static_cast<int64_t>(3 * i) + 3}});
      CHECK(g[i].to_vector<float>() == own.to_vector<float>());
    }
  });
}
