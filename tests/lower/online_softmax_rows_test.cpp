// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Online softmax of long rows: a maximum and sums in one pass, block by block.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "core/reference/reference.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

/// The maximum of each row, the logarithm of the sum of its powers, and how likely one element is.
std::string rows(const std::string& shape, const std::string& dtype = "f32",
                 const std::string& bounds = "") {
  const std::string first = shape.substr(0, shape.find(','));
  return fmt::format(R"(graph g(%x0: {2}[{0}], %i: i64[{1}, 1]) {3} {{
    %x = cast %x0 : f32
    %m = reduce.max %x, axes=[1]
    %me = expand %m : f32[{0}]
    %c = sub %x, %me
    %e = exp %c
    %s = reduce.add %e, axes=[1]
    %l = ln %s
    %at = take %x, %i, axis=1
    %d = sub %at, %m
    %t = sub %d, %l
    return %m, %l, %t }})",
                     shape, first, dtype, bounds);
}

bool is_online_softmax(const std::string& text) {
  Builder builder;
  const LoweredKernel kernel = lower(parse_graph(text, builder), cpu_like(), "", true);
  return list_text(kernel.chosen).find("online_softmax ") != std::string::npos;
}

}  // namespace

TEST_CASE("long rows are one pass by the rules for processors with vectors") {
  for (const char* shape : {"3, 8208", "2, 9000", "5, 16384", "2, 8193"}) {
    INFO(shape);
    CHECK(is_online_softmax(rows(shape)));
    CHECK(difference({rows(shape), {}, {}, 2e-5}, cpu_like(), "", true) == "");
  }
  CHECK(is_online_softmax(rows("2, 9000", "bf16")));
  CHECK(difference({rows("2, 9000", "bf16"), {}, {}, 2e-5}, cpu_like(), "", true) == "");
}

TEST_CASE("long rows whose length is a symbol are one pass") {
  const std::string text = rows("3, n", "f32", "where 1 <= n <= 20000");
  Builder builder;
  for (const int64_t n : {1, 15, 1023, 1024, 1025, 9000}) {
    INFO(n);
    CHECK(difference({text, {{"n", n}}, {}, 2e-5}, cpu_like(), "", true) == "");
  }
}

TEST_CASE("short rows, and rows whose powers are wanted again, stay two passes") {
  CHECK_FALSE(is_online_softmax(rows("3, 1024")));
  CHECK_FALSE(is_online_softmax(R"(graph g(%x: f32[3, 9000]) {
    %m = reduce.max %x, axes=[1]
    %me = expand %m : f32[3, 9000]
    %c = sub %x, %me
    %e = exp %c
    %s = reduce.add %e, axes=[1]
    %se = expand %s : f32[3, 9000]
    %y = fdiv %e, %se
    return %y })"));
}

TEST_CASE("infinities and NaN in a long row come out as the reference has them") {
  constexpr int64_t kSize = 8500;
  const double infinity = std::numeric_limits<double>::infinity();
  Builder builder;
  const Graph graph = parse_graph(rows("2, 8500"), builder);
  const LoweredKernel kernel = lower(graph, cpu_like(), "", true);
  for (const double value : {-infinity, infinity, std::nan("")}) {
    for (const auto& [first, end] :
         {std::pair<int64_t, int64_t>{0, kSize}, {0, 2000}, {8499, 8500}, {1024, 1025}}) {
      INFO(value << " from " << first << " to " << end);
      std::vector<Array> inputs{Array::zeros(DType::kF32, {2, kSize}),
                                Array::zeros(DType::kI64, {2, 1})};
      for (int64_t i = 0; i < kSize; ++i)
        inputs[0].set(i, Scalar::of(DType::kF32, i >= first && i < end ? value : 0.25 * (i % 7)));
      inputs[1].set(0, Scalar::of_int(DType::kI64, 1024));
      const std::vector<Array> expected = evaluate(graph, inputs, {}),
                               got = run(kernel, graph, {}, inputs, {}, {});
      for (size_t k = 0; k < expected.size(); ++k) {
        const double x = expected[k].at(0).as_double(), y = got[k].at(0).as_double();
        INFO("output " << k << ": expected " << x << ", got " << y);
        CHECK(std::isnan(x) == std::isnan(y));
        if (!std::isnan(x)) CHECK((x == y || std::abs(x - y) <= 1e-4 * std::max(1.0, std::abs(x))));
      }
    }
  }
}
