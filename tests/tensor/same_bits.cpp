// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What several threads do together has the same bits in every run, and those of one thread.
#include <bit>
#include <random>

#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

using namespace tenon;

namespace {

ContextOptions processor(int threads) {
  ContextOptions options = test::cpu_and_null();
  options.devices = "cpu@threads=" + std::to_string(threads);
  return options;
}

std::vector<uint32_t> bits_of(const Tensor& x) {
  std::vector<uint32_t> out;
  for (const float v : x.to_vector<float>()) out.push_back(std::bit_cast<uint32_t>(v));
  return out;
}

}  // namespace

TEST_CASE("many values that are added to few rows are added in their order, by any threads") {
  constexpr int64_t kCount = 3000, kRows = 37;
  for (const int64_t columns : {1, 7, 64, 200, 3000}) {
    INFO(columns << " columns");
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(-2, 2);
    std::vector<float> values(static_cast<size_t>(kCount * columns)),
        sums(static_cast<size_t>(kRows * columns));
    std::vector<int64_t> ids(static_cast<size_t>(kCount));
    for (float& v : values) v = uniform(random);
    for (int64_t& id : ids) id = static_cast<int64_t>(random() % (kRows + 1));  // and outside
    for (int64_t i = 0; i < kCount; ++i)
      for (int64_t c = 0; c < columns && ids[static_cast<size_t>(i)] < kRows; ++c)
        sums[static_cast<size_t>(ids[static_cast<size_t>(i)] * columns + c)] +=
            values[static_cast<size_t>(i * columns + c)];
    std::vector<uint32_t> expected;
    for (const float v : sums) expected.push_back(std::bit_cast<uint32_t>(v));
    for (const int threads : {1, 2}) {
      Context context(processor(threads));
      const Tensor x = tensor<float>(std::span<const float>(values), {kCount, columns}, context);
      const Tensor at = tensor<int64_t>(std::span<const int64_t>(ids), {kCount}, context);
      const auto add = compile(
          [&](const Tensor& v, const Tensor& id) {
            const Tensor none = zeros({kRows, columns}, DType::kF32, v.context());
            return none.scatter_add(0, id.expand_dims(1).broadcast_to({kCount, columns}), v);
          },
          {.name = "add"});
      for (int run = 0; run < 20; ++run) REQUIRE(bits_of(add(x, at)) == expected);
    }
  }
}

TEST_CASE("losses and gradients have the same bits in every run of two threads") {
  Context context(processor(2));
  const Tensor logits = normal(Key(3, context), {24, 9000});
  const Tensor labels = arange(24, DType::kI64, context) * 300;
  const auto step = compile(
      [](const Tensor& x, const Tensor& y) {
        const Tensor weights = log_softmax(x).gather(1, y.expand_dims(1));
        return grad(weights.sum(), {x})[0];
      },
      {.name = "step"});
  const std::vector<uint32_t> first = bits_of(step(logits, labels));
  for (int run = 0; run < 20; ++run) REQUIRE(bits_of(step(logits, labels)) == first);
}
