// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attention does at its edges: masks, shapes that do not fit, symbolic lengths.
#include <cmath>

#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace tenon::test {
namespace {

using Catch::Matchers::ContainsSubstring;

Tensor drawn(std::vector<int64_t> shape, uint64_t seed, Context& context) {
  return normal(Key(seed, context), std::move(shape));
}

float largest(const Tensor& x) { return x.abs().max().item<float>(); }

}  // namespace

TEST_CASE("a query that sees nothing gives zeros, and finite gradients") {
  on_each_device([](Context& context) {
    const Tensor q = drawn({1, 2, 3, 4}, 1, context), k = drawn({1, 2, 5, 4}, 2, context),
                 v = drawn({1, 2, 5, 4}, 3, context);
    const Tensor rows = tensor<bool>({{true}, {false}, {true}}, context);
    nn::AttentionOptions options;
    options.mask = rows.broadcast_to({3, 5});
    const Tensor out = nn::attention(q, k, v, options);
    CHECK(largest(out.take(1, 2)) == 0);
    CHECK(largest(out.take(0, 2)) > 0);
    const ValueAndGrad found = value_and_grad([&](const std::vector<Tensor>& x) {
      return nn::attention(x[0], x[1], x[2], options).square().sum();
    })({q, k, v});
    for (const Tensor& g : found.gradients) CHECK(std::isfinite(largest(g)));
    CHECK(largest(found.gradients[0].take(1, 2)) == 0);
  });
}

TEST_CASE("heads that share keys have the gradients of as many heads with equal keys") {
  Context& context = Context::standard();
  // Small, and with scores larger than the last cache.
  for (const int64_t tokens : {6, 1536})
    for (const bool causal : {false, true}) {
      const Tensor q = drawn({1, 8, tokens, 16}, 1, context),
                   k = drawn({1, 2, tokens, 16}, 2, context),
                   v = drawn({1, 2, tokens, 16}, 3, context),
                   g = drawn({1, 8, tokens, 16}, 4, context);
      const auto gradients = [&](bool repeated) {
        return value_and_grad([&](const std::vector<Tensor>& x) {
                 const auto each = [&](const Tensor& of) {
                   return of.expand_dims(2).broadcast_to({1, 2, 4, tokens, 16}).reshape(q.shape());
                 };
                 return (nn::attention(x[0], repeated ? each(x[1]) : x[1],
                                       repeated ? each(x[2]) : x[2], {.causal = causal}) *
                         g)
                     .sum();
               })({q, k, v})
            .gradients;
      };
      const std::vector<Tensor> shared = gradients(false), repeated = gradients(true);
      for (size_t i = 0; i < shared.size(); ++i) {
        INFO(tokens << " positions, causal " << causal << ", input " << i);
        CHECK(largest(shared[i] - repeated[i]) <= 1e-4f * largest(repeated[i]));
      }
    }
}

TEST_CASE("masks of bools and of numbers say the same, for shared heads too") {
  on_each_device([](Context& context) {
    const Tensor q = drawn({2, 4, 3, 4}, 1, context), k = drawn({2, 2, 3, 4}, 2, context),
                 v = drawn({2, 2, 3, 4}, 3, context);
    const Tensor sees = drawn({2, 4, 3, 3}, 4, context) > -0.5;
    nn::AttentionOptions bools, numbers;
    bools.mask = sees | (eye(3, {}, 0, DType::kF32, context) > 0);
    numbers.mask = where(*bools.mask, 0.0, -1e9);
    CHECK(largest(nn::attention(q, k, v, bools) - nn::attention(q, k, v, numbers)) < 1e-6f);
  });
}

TEST_CASE("a mask of -inf hides as a false one does, whole rows too") {
  on_each_device([](Context& context) {
    const Tensor q = drawn({1, 2, 3, 4}, 1, context), k = drawn({1, 2, 3, 4}, 2, context),
                 v = drawn({1, 2, 3, 4}, 3, context);
    const std::vector<float> rows{0, -INFINITY, 0, -INFINITY, -INFINITY, -INFINITY, 0, 0, 0};
    nn::AttentionOptions bools, numbers;
    numbers.mask = tensor<float>(std::span(rows), {3, 3}, context);
    bools.mask =
        tensor<bool>({{true, false, true}, {false, false, false}, {true, true, true}}, context);
    const Tensor out = nn::attention(q, k, v, numbers);
    CHECK(largest(out.take(1, 2)) == 0);
    CHECK(largest(out - nn::attention(q, k, v, bools)) == 0);
  });
}

TEST_CASE("a window of any size sees all that is near") {
  on_each_device([](Context& context) {
    const Tensor q = drawn({1, 1, 4, 2}, 1, context), k = drawn({1, 1, 3, 2}, 2, context);
    for (const bool causal : {false, true})
      CHECK(largest(nn::attention(q, k, k, {.causal = causal, .window = INT64_MAX}) -
                    nn::attention(q, k, k, {.causal = causal, .window = 100})) == 0);
  });
}

TEST_CASE("one key after another by a growing memory is the whole at once") {
  on_each_device([](Context& context) {
    const Tensor x = drawn({1, 2, 6, 4}, 1, context);
    const Tensor whole = nn::attention(nn::rotary(x), nn::rotary(x), x, {.causal = true});
    for (int64_t i = 0; i < 6; ++i) {
      const Tensor now = x.slice({{}, {}, {i, i + 1}}), past = x.slice({{}, {}, {0, i + 1}});
      const Tensor one =
          nn::attention(nn::rotary(now, i), nn::rotary(past), past, {.causal = true});
      CHECK(largest(one - whole.slice({{}, {}, {i, i + 1}})) < 1e-5f);
    }
  });
}

TEST_CASE("f16 attention is computed in f32, and stays f16") {
  on_each_device([](Context& context) {
    const Tensor x = drawn({1, 1, 4, 8}, 1, context) * 30;
    const Tensor half = x.astype(DType::kF16);
    const Tensor out = nn::attention(half, half, half, {.causal = true});
    CHECK(out.dtype() == DType::kF16);
    CHECK(std::isfinite(largest(out.astype(DType::kF32))));
  });
}

TEST_CASE("shapes that attention cannot take are named") {
  const Tensor x = ones({1, 4, 3, 8});
  const auto refuses = [](const auto& f, const char* text) {
    CHECK_THROWS_WITH((void)f(), ContainsSubstring(text));
  };
  refuses(
      [&] {
        return nn::attention(x, ones({1, 3, 3, 8}), ones({1, 3, 3, 8}));
      },
      "[nn.attention] expected heads of the queries that are a multiple");
  refuses(
      [&] {
        return nn::attention(x, ones({1, 4, 3, 6}), x);
      },
      "[nn.attention] expected queries and keys of one size");
  refuses(
      [&] {
        return nn::attention(x, x, ones({1, 4, 2, 8}));
      },
      "and as many keys as values, got sizes 8 and 8, 3 and 2");
  refuses(
      [&] {
        return nn::attention(x, x, ones({4, 3, 8}));
      },
      "of one rank, got ranks 4, 4 and 3");
  const Tensor whole = x.astype(DType::kI32);
  refuses([&] { return nn::attention(whole, whole, whole); },
          "[nn.attention] expected float dtypes, got i32, i32 and i32");
  refuses(
      [&] {
        return nn::rotary(ones({2, 3}));
      },
      "[nn.rotary] expected [.., positions, an even size], got [2, 3]");
  refuses([] { return nn::MultiHeadAttention(10, 3); },
          "[nn.multi_head_attention] expected a width that divides into heads, got 10 and 3");
}

}  // namespace tenon::test
