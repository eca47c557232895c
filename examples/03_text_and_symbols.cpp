// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 3: graphs as text, and dimensions that are known only when the graph runs, in text and in
// C++. One plan serves every n.
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

namespace {

/// The same in C++: the tensor says that its rows are n.
bool in_cpp(Context& context) {
  const Size n = Size::symbol("n", 1, 1000000);
  const auto mean_square = compile([](const Tensor& x) { return x.square().mean(0); });
  for (const int64_t rows : {2, 1000, 3}) {
    const Tensor position = arange(rows * 4, DType::kI64, context).reshape({rows, 4});
    const Tensor x = (position % 4).astype(DType::kF32).with_size(0, n);
    const std::vector<float> y = mean_square(x).to_vector<float>();
    std::printf(
        "n = %4d: %g %g %g %g (%s of %s)\n", static_cast<int>(rows), static_cast<double>(y[0]),
        static_cast<double>(y[1]), static_cast<double>(y[2]), static_cast<double>(y[3]),
        mean_square.traces() == 1 ? "the one trace" : "another trace", x.sizes()[0].text().c_str());
    if (y[3] != 9.0F || mean_square.traces() != 1) return false;
  }
  return true;
}

}  // namespace

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
  return in_cpp(context) ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "03_text_and_symbols: %s\n", error.what());
  return 3;
}
