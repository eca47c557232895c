// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs as matrices, sizes of images, windows by chance: what goldens do not say.
#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {
namespace {}  // namespace

TEST_CASE("a graph is the matrix of its edges") {
  on_each_device([](Context& context) {
    // 0 to 1 twice, 2 to 0, 1 to itself; two ends that are no node.
    const Tensor edges = tensor<int64_t>({{0, 0, 2, 1, 3, 0}, {1, 1, 0, 1, 0, -1}}, context);
    CHECK(nn::adjacency(edges, 3).to_vector<float>() ==
          std::vector<float>{0, 0, 1, 2, 1, 0, 0, 0, 0});
    CHECK(nn::adjacency(edges, 3, true).to_vector<float>() ==
          std::vector<float>{0, 2, 1, 2, 2, 0, 1, 0, 0});
    const Tensor weights = tensor<float>({.5f, 1, 2, 3, 9, 9}, context);
    CHECK(nn::adjacency(edges, 3, false, weights).to_vector<float>() ==
          std::vector<float>{0, 0, 2, 1.5f, 3, 0, 0, 0, 0});
    const Tensor alone = nn::normalised_adjacency(tensor<float>({{0, 0}, {0, -2}}, context));
    CHECK(alone.to_vector<float>() == std::vector<float>{1, 0, 0, 0});
  });
}

TEST_CASE("a node of a graph hears itself and those with an edge to it, and nobody else") {
  on_each_device([](Context& context) {
    nn::GATConv layer(2, 3, {.heads = 2});
    for (const nn::Named& named : nn::parameters(layer))
      *named.parameter = normal(Key(5, context), named.parameter->declared->shape);
    const Tensor edges = tensor<int64_t>({{1, 2}, {0, 1}}, context);  // 1 to 0, 2 to 1
    const Tensor graph = nn::adjacency(edges, 3);
    const Tensor x = normal(Key(1, context), {3, 2});
    const Tensor other = x + tensor<float>({{0, 0}, {1, 1}, {0, 0}}, context);
    const std::vector<float> a = layer(x, graph).to_vector<float>(),
                             b = layer(other, graph != 0).to_vector<float>();
    for (size_t i = 0; i < 18; ++i) {
      INFO("node " << i / 6);
      CHECK((a[i] == b[i]) == (i >= 12));  // only node 2 does not hear 1
    }
  });
}

TEST_CASE("windows of fractional pooling are drawn for each channel while the model learns") {
  on_each_device([](Context& context) {
    const nn::FractionalMaxPool2d pool(2, 6);
    const Tensor x = uniform(Key(3, context), {1, 1, 11, 11}).broadcast_to({2, 4, 11, 11});
    const auto drawn = [&](uint64_t seed) {
      return pool(x, nn::Mode::training(Key(seed, context))).to_vector<float>();
    };
    const std::vector<float> one = drawn(1);
    CHECK(one == drawn(1));
    CHECK(one != drawn(2));
    const auto channel = [&](size_t i) {
      return std::vector<float>(one.begin() + static_cast<int64_t>(i * 36),
                                one.begin() + static_cast<int64_t>((i + 1) * 36));
    };
    bool differs = false;
    for (size_t i = 1; i < 8; ++i) differs = differs || channel(i) != channel(0);
    CHECK(differs);
    // Without a key all windows are those of samples of 1/2: begins 0 2 4 6 8 9 of steps of 1.8.
    const Tensor line = arange(11, DType::kF32, context).reshape({1, 1, 1, 11});
    CHECK(nn::fractional_max_pool(line, {2}, {6}, full({1}, 0.5, DType::kF32, context))
              .to_vector<float>() == std::vector<float>{1, 3, 5, 7, 9, 10});
    CHECK(pool(x).to_vector<float>() == pool(x).to_vector<float>());
    refuses([&] { return pool(x, nn::Mode::training()); }, "nn.fractional_max_pool");
  });
}

TEST_CASE("sizes, factors and graphs that do not fit are errors that name the layer") {
  const Tensor x = ones({1, 3, 4, 5});
  const auto linear = nn::InterpolateOptions{nn::Interpolation::kLinear};
  refuses(
      [&] {
        return nn::interpolate(x, {0, 4});
      },
      "[nn.interpolate] expected sizes above 0, got 0 of 4");
  refuses(
      [&] {
        return nn::interpolate(x, {1, 1, 1, 1, 1});
      },
      "[nn.interpolate] expected 1 to 4 sizes, got 5");
  refuses(
      [&] {
        return nn::interpolate(x.astype(DType::kI32), {8, 8}, linear);
      },
      "[nn.interpolate] expected a float dtype for lines, got i32");
  refuses(
      [&] {
        return nn::interpolate(x, {8, 8}, {nn::Interpolation::kNearest, true});
      },
      "[nn.interpolate] expected align_corners with lines only");
  refuses([] { return nn::Upsample(0); }, "[nn.upsample] expected a factor above 0, got 0");
  refuses([&] { return nn::Upsample(2)(x.take(0, 0).take(0, 0)); },
          "[nn.upsample] expected [n, channels, sizes..], got [4, 5]");
  refuses([&] { return nn::Upsample(int64_t{1} << 61)(x); },
          "[nn.upsample] expected sizes below 2^63, got 2305843009213693952 times [1, 3, 4, 5]");
  refuses([&] { return nn::pixel_shuffle(x, 2); },
          "[nn.pixel_shuffle] expected [.., channels, height, width] with channels a multiple of "
          "4, got [1, 3, 4, 5]");
  refuses([&] { return nn::pixel_unshuffle(x, 2); },
          "with height and width a multiple of 2, got [1, 3, 4, 5]");
  refuses(
      [&] {
        return nn::fractional_max_pool(x, {2, 2}, {4, 2}, full({1}, 0.5));
      },
      "[nn.fractional_max_pool] expected a window and so many places for it in 4 elements, got "
      "2 and 4");
  nn::GCNConv gcn(5, 2, Key(1));
  nn::GATConv gat(5, 2, Key(1));
  const Tensor nodes = ones({4, 5});
  refuses(
      [&] {
        return gcn(nodes, ones({3, 3}));
      },
      "[nn.gcn_conv] expected features [.., n, size] and a graph [.., n, n], got [4, 5] and "
      "[3, 3]");
  refuses([&] { return gat(nodes, ones({4})); }, "[nn.gat_conv] expected features");
  refuses([] { return nn::GATConv(3, 4, {.heads = 0}); },
          "[nn.gat_conv] expected heads and outputs above 0, got 0 and 4");
  refuses([] { return nn::GATConv(3, 4, {.dropout = -1}); },
          "[nn.dropout] expected a rate in [0, 1), got -1");
  refuses(
      [] {
        return nn::adjacency(ones({2, 3}), 4);
      },
      "[nn.adjacency] expected integers [2, edges], got f32[2, 3]");
  refuses(
      [] {
        return nn::adjacency(ones({2, 3}, DType::kI64), 0);
      },
      "[nn.adjacency] expected 1 to 1048575 nodes, got 0");
}

}  // namespace tenon::test
