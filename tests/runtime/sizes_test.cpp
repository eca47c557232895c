// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose sizes are known at launch.
#include <catch2/catch_test_macros.hpp>

#include "core/ir/text/text.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

const char* const kSizedProduct =
    R"(graph product(%a: f32[m, 40], %b: f32[40, 24]) where 1 <= m <= 600 {
  %a3 = reshape %a               : f32[m, 40, 1]
  %ae = expand %a3               : f32[m, 40, 24]
  %b3 = reshape %b               : f32[1, 40, 24]
  %be = expand %b3               : f32[m, 40, 24]
  %p = mul %ae, %be              : f32[m, 40, 24]
  %s = reduce.add %p, axes=[1]   : f32[m, 1, 24]
  return %s
})";

/// Small whole numbers, so that sums are the same in any order.
Array numbers(std::vector<int64_t> shape) {
  Array array = Array::zeros(DType::kF32, std::move(shape));
  for (int64_t i = 0; i < array.count(); ++i)
    array.set(i, Scalar::of(DType::kF32, static_cast<double>(i % 7) - 3));
  return array;
}

RunStats run(Runtime& runtime, const Graph& graph, const std::vector<Array>& inputs,
             const SymbolValues& symbols) {
  RunStats stats;
  const std::vector<Array> got = runtime.run(graph, inputs, symbols, "", &stats);
  const std::vector<Array> expected = evaluate(graph, inputs, symbols);
  REQUIRE(got.size() == expected.size());
  for (size_t o = 0; o < got.size(); ++o) CHECK(got[o] == expected[o]);
  return stats;
}

}  // namespace

TEST_CASE("a kernel of many sizes is made once for each range of them") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    Runtime runtime(options_for(backend, backend));
    const Graph graph = parse_graph(kSizedProduct, runtime.builder());
    const auto compiles = [&](int64_t m) {
      CAPTURE(m);
      return run(runtime, graph, {numbers({m, 40}), numbers({40, 24})}, {{"m", m}}).compile_ms > 0;
    };
    for (const int64_t first : {300, 1, 16, 17}) CHECK(compiles(first));
    for (const int64_t again : {600, 257, 256, 20, 2, 9, 1}) CHECK_FALSE(compiles(again));
    CHECK(runtime.plan_count() == 1);
    CHECK(runtime.kernels().size() == 1);
  }
}

TEST_CASE("transforms that the application has set are those of all sizes") {
  Runtime runtime(options_for(backends()[0], backends()[0]));
  const Graph graph = parse_graph(kSizedProduct, runtime.builder());
  const auto compiles = [&](int64_t m) {
    CAPTURE(m);
    return run(runtime, graph, {numbers({m, 40}), numbers({40, 24})}, {{"m", m}}).compile_ms > 0;
  };
  CHECK(compiles(5));
  runtime.set_transforms(runtime.kernels().at(0).name, "split a0 4");
  CHECK(compiles(5));
  for (const int64_t m : {1, 30, 600}) CHECK_FALSE(compiles(m));
}

TEST_CASE("a size of none or one is as good as any") {
  const char* const text = R"(graph g(%x: f32[n, 3], %y: f32[k, n]) where 0 <= n <= 1, 0 <= k <= 4 {
    %a = add %x, %x                  : f32[n, 3]
    %r = reduce.add %a, axes=[0]     : f32[1, 3]
    %b = mul %y, %y                  : f32[k, n]
    return %a, %r, %b
  })";
  for (const std::string& backend : backends()) {
    Runtime runtime(options_for(backend, backend));
    const Graph graph = parse_graph(text, runtime.builder());
    for (const int64_t n : {0, 1, 0})
      for (const int64_t k : {0, 1, 3}) {
        CAPTURE(backend, n, k);
        run(runtime, graph, {numbers({n, 3}), numbers({k, n})}, {{"n", n}, {"k", k}});
      }
  }
}
