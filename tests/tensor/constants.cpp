// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that change from step to step do not make plans: rates, seeds, constants.
#include <cmath>

#include "frontend/tensor/state.hpp"
#include "tenon/literal.hpp"
#include "tenon/make.hpp"
#include "tenon/random.hpp"
#include "tests/tensor/devices.hpp"

using namespace tenon;
using test::on_each_device;

TEST_CASE("a thousand steps with a changing rate and seed take two plans more than the first") {
  on_each_device([](Context& context) {
    const Tensor target = tensor<float>({1, -2, 3, 0.5}, context);
    Tensor w = tensor<float>({0, 0, 0, 0}, context);
    for (uint64_t step = 0; step < 1000; ++step) {
      const float rate = 0.5f / static_cast<float>(1 + step / 3);
      const Tensor noise = uniform(Key(step * 0x9E3779B97F4A7C15, context), {4});
      w = w - (w - target) * rate + (noise - 0.5f) * 0.001f;
      realize({w});
    }
    CHECK(runtime_of(context).plan_count() <= 3);
    const std::vector<float> found = w.to_vector<float>(), goal = target.to_vector<float>();
    for (size_t i = 0; i < 4; ++i) CHECK(std::abs(found[i] - goal[i]) < 0.05f);
  });
}

TEST_CASE("a seed is data: the numbers are those of a context that knows no other") {
  on_each_device([](Context& context) {
    const auto noise = [](uint64_t seed, Context& on) {
      return uniform(Key(seed, on), {7}).to_vector<float>();
    };
    ContextOptions options;
    options.plugins = test::plugin_files();
    options.devices = context.device().id;
    options.use_environment = false;
    options.disk_cache = false;
    for (const uint64_t seed : {uint64_t{1}, uint64_t{0}, uint64_t{13}, uint64_t{32}, ~uint64_t{0},
                                uint64_t{1} << 32, uint64_t{0x1BD11BDA}}) {
      Context fresh(options);
      CHECK(noise(seed, context) == noise(seed, fresh));
    }
    CHECK(runtime_of(context).plan_count() <= 4);
  });
}

TEST_CASE("full, powers and comparisons keep their meaning while the number changes") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({-1, 0, 2, 5}, context);
    for (const float c : {3.0f, 0.0f, 1.0f, 2.0f, -0.0f, -1.0f, 0.5f, 3.0f}) {
      CAPTURE(c);
      CHECK(full({2, 2}, c, DType::kF32, context).to_vector<float>() == std::vector<float>(4, c));
      CHECK(std::signbit(full({1}, c, DType::kF32, context).item<float>()) == std::signbit(c));
      const auto sums = (x * c + c).to_vector<float>();
      const auto less = (x < Tensor(c)).to_vector<bool>();
      const float values[4] = {-1, 0, 2, 5};
      for (size_t i = 0; i < 4; ++i) {
        CHECK(sums[i] == values[i] * c + c);
        CHECK(less[i] == (values[i] < c));
      }
    }
    CHECK(runtime_of(context).plan_count() <= 12);
  });
}
