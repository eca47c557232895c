// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that were computed from themselves forty times, and attention over lazy random draws.
#include <catch2/catch_test_macros.hpp>
#include <functional>

#include "tenon/nn/attention.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

/// 2^40 paths: each value is used twice by the next.
Tensor tangled(Tensor x) {
  for (int k = 0; k < 40; ++k) x = sin(x) - cos(x);
  return x;
}

}  // namespace

TEST_CASE("tensors with 2^40 paths are read, differentiated, compiled and listed") {
  on_each_device([](Context& context) {
    const Tensor x = full({4}, 0.5, DType::kF32, context);
    const std::vector<float> expected = tangled(x).to_vector<float>();
    CHECK(expected.size() == 4);
    CHECK(to_string(tangled(x + 1.0)).size() < 1000);
    CHECK(to_string(describe(tangled(x + 2.0))).size() < 1000);
    const Tensor leaf = uniform(Key(4, context), {4});
    CHECK(grad(tangled(leaf).sum(), {leaf})[0].to_vector<float>().size() == 4);
    const auto f = compile([](const Tensor& t) { return tangled(t); });
    CHECK(std::abs(f(x).to_vector<float>()[0] - expected[0]) < 1e-4F);
    const auto body = composite(
        "tangled", [](const std::vector<Tensor>& t) { return std::vector<Tensor>{tangled(t[0])}; });
    CHECK(body({body({x})[0]})[0].to_vector<float>().size() == 4);
    const auto step = [](const Tensor&, const std::vector<Tensor>& t) {
      return std::vector<Tensor>{tangled(t[0])};
    };
    CHECK(fori_loop(Tensor(0), Tensor(3), step, {x})[0].to_vector<float>().size() == 4);
    size_t bytes = 0;
    for (const KernelInfo& kernel : context.kernels())
      bytes += kernel.loops.size() + kernel.graph.size() + kernel.program.size();
    CHECK(bytes > 0);
    CHECK(bytes < 1000000);
  });
}

TEST_CASE("attention over lazy random draws is planned") {
  on_each_device([](Context& context) {
    const Tensor order = arange(2, -1, -1, DType::kI64, context);
    using Change = std::function<Tensor(const Tensor&)>;
    for (const Change& change :
         std::vector<Change>{[&](const Tensor& v) { return get(v, {order}); },
                             [&](const Tensor& v) {
                               return concatenate({v, v * 2.0}).slice({{1, 4}});
                             },
                             [&](const Tensor& v) { return set(v, {order}, v * 3.0); }}) {
      const Tensor q = normal(Key(1, context), {3, 4}), k = normal(Key(2, context), {4, 3}),
                   v = normal(Key(3, context), {3, 4});
      const auto attend = [&] { return change(q).matmul(k).softmax().matmul(change(v)); };
      const std::vector<float> lazy = attend().to_vector<float>();
      realize({q, k, v});
      const std::vector<float> stepwise = attend().to_vector<float>();
      REQUIRE(lazy.size() == 12);
      for (size_t i = 0; i < lazy.size(); ++i) CHECK(std::abs(lazy[i] - stepwise[i]) < 1e-5F);
    }
  });
}

TEST_CASE("attention to a cache that was not read yet is planned") {
  on_each_device([](Context& context) {
    nn::KeyValueCache cache(1, 2, 8, 4, DType::kF32, context);
    cache.append(normal(Key(1, context), {1, 2, 3, 4}), normal(Key(2, context), {1, 2, 3, 4}));
    const Tensor q = normal(Key(3, context), {1, 2, 3, 4});
    CHECK(nn::attention(q, cache).to_vector<float>().size() == 24);
  });
}

TEST_CASE("the loops of a random draw are as long as what they compute") {
  on_each_device([](Context& context) {
    realize({uniform(Key(1, context), {16})});
    size_t bytes = 0;
    for (const KernelInfo& kernel : context.kernels()) bytes += kernel.loops.size();
    CHECK(bytes > 1000);
    CHECK(bytes < 100000);
  });
}
