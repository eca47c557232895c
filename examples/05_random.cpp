// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 5: random numbers are a function of seed and position, so they are the same on every
// device. Here they estimate pi, and fit a line by gradient descent.
#include <tenon/tenon.hpp>

#include <cmath>
#include <cstdio>

using namespace tenon;

int main() try {
  const int64_t n = 1 << 20;
  const Tensor x = uniform(Key(1), {n});
  const Tensor y = uniform(Key(2), {n});
  const Tensor inside = (x * x + y * y < 1.0f).astype(DType::kF32);
  const float pi = 4 * inside.mean().item<float>();
  std::printf("pi is about %.4f\n", pi);

  // y = 3x - 1 with noise; each step is one small graph whose plan is made once.
  const int64_t points = 256;
  const Tensor u = uniform(Key(3), {points});
  const Tensor v = u * 3.0f - 1.0f + normal(Key(4), {points}) * 0.05f;
  realize({u, v});
  Tensor slope = zeros({1});
  Tensor offset = zeros({1});
  for (int step = 0; step < 400; ++step) {
    const Tensor error = u * slope + offset - v;
    slope = slope - (error * u).mean(0, true);
    offset = offset - error.mean(0, true);
    realize({slope, offset});
  }
  const float a = slope.item<float>();
  const float b = offset.item<float>();
  std::printf("the line is %.2f x %+.2f\n", a, b);
  return std::abs(pi - 3.1416f) < 0.01f && std::abs(a - 3) < 0.1f && std::abs(b + 1) < 0.1f ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "05_random: %s\n", error.what());
  return 3;
}
