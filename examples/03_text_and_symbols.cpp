// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 3: graphs as text, and dimensions that are known only when the graph runs. One plan serves
// every n.
#include <tenon/tenon.hpp>

#include <cstdio>

using namespace tenon;

constexpr const char* kText = R"(
graph mean_square(%x: f32[n, 4]) where 1 <= n <= 1000000 {
  %s = mul %x, %x
  %t = reduce.add %s, axes=[0]
  %n = dim n                      : i64[]
  %f = cast %n                    : f32[]
  %r = reshape %f                 : f32[1, 1]
  %e = expand %r                  : f32[1, 4]
  %m = fdiv %t, %e
  return %m
}
)";

int main() try {
  Context& context = Context::standard();
  const Function mean_square = Function::parse(kText, context, "mean_square");
  for (const int64_t n : {2, 1000, 3}) {
    Array x = Array::zeros(DType::kF32, {n, 4});
    for (int64_t i = 0; i < x.count(); ++i)
      x.set(i, Scalar::of(DType::kF32, static_cast<double>(i % 4)));
    RunStats stats;
    const std::vector<Array> y = context.run(mean_square, {x}, {{"n", n}}, "", &stats);
    std::printf("n = %4d: %g %g %g %g (%s)\n", static_cast<int>(n), y[0].at(0).as_double(),
                y[0].at(1).as_double(), y[0].at(2).as_double(), y[0].at(3).as_double(),
                stats.plan_cached ? "plan from before" : "planned and compiled");
    if (y[0].at(3).as_double() != 9.0) return 1;
    if (stats.plan_cached != (n != 2)) return 1;
  }
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "03_text_and_symbols: %s\n", error.what());
  return 3;
}
