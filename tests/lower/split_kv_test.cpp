// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Split-KV: attention of few heads splits its keys among units. Each part has its maximum,
// its sum of powers and its sums of values, and a second stage combines them.
#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "tests/lower/attention.hpp"
#include "tests/lower/cutting.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A device of so many units.
Capabilities units(uint32_t count, Capabilities device = cpu_like()) {
  device.compute_units = count;
  return device;
}

bool is_in_parts(const Cutting& cut) { return cut.call(0).graph.outputs.size() == 3; }

const std::vector<std::pair<const char*, Attention>> kPartsKinds = {
    {"one query of one head", {.heads = 1, .queries = 1, .keys = 2048, .size = 8, .values = 16}},
    {"masked",
     {.heads = 1,
      .queries = 1,
      .keys = 1024,
      .size = 4,
      .values = 8,
      .unmasked = "%n = const 700 : i64[1, 1, 1024]\n %unmasked = cmplt %key, %n\n"}},
    {"masked by -inf",
     {.heads = 1,
      .queries = 1,
      .keys = 1024,
      .size = 4,
      .values = 8,
      .unmasked = "%n = const 300 : i64[1, 1, 1024]\n %unmasked = cmplt %key, %n\n",
      .masked_score = "-inf",
      .masks_weights = false}},
    {"three heads, base 2",
     {.heads = 3, .queries = 1, .keys = 1536, .size = 4, .values = 8, .power = "exp2 %z"}},
    {"queries of a group",
     {.heads = 4, .queries = 1, .keys = 1024, .size = 8, .values = 8, .each = 4}},
    {"five queries", {.heads = 1, .queries = 5, .keys = 1024, .size = 4, .values = 12}},
    {"a block of queries", {.heads = 1, .queries = 40, .keys = 1024, .size = 4, .values = 16}},
    {"bf16", {.heads = 1, .queries = 1, .keys = 1024, .size = 8, .values = 16, .dtype = "bf16"}},
};

}  // namespace

TEST_CASE("attention of few heads splits its keys, each part of three results") {
  for (const auto& [name, a] : kPartsKinds) {
    INFO(name);
    Cutting cut(text(a), units(2));
    REQUIRE(is_in_parts(cut));
    INFO(print(cut.schedule));
    CHECK(list_text(cut.lowered(cut.call(0)).chosen).find("online_softmax ") != std::string::npos);
    CHECK(cut.largest() <= a.heads * a.queries * a.values * 16);
    check_same(cut, drawn(cut.graph, 1), a.dtype == "f32" ? 1e-4 : 2e-2);
  }
}

TEST_CASE("parts are cut by the device's units alone") {
  const Attention a{.heads = 1, .queries = 1, .keys = 2048, .size = 8, .values = 16};
  const auto parts = [&](const Attention& of, uint32_t count) {
    const Cutting cut(text(of), units(count));
    if (!is_in_parts(cut)) return int64_t{1};
    return product(cut.call(0).graph.outputs[1]->shape).value() / of.heads;
  };
  CHECK(parts(a, 1) == 1);
  CHECK(parts(a, 2) == 4);  // of 512 keys
  Attention other = a;
  other.heads = 2;  // one each
  CHECK(parts(other, 2) == 1);
  other.heads = 3;
  CHECK(parts(other, 2) == 3 + 1);
  other = a;
  other.keys = 2039;  // a prime
  CHECK(parts(other, 2) == 1);
  other.keys = 512;
  CHECK(parts(other, 2) == 1);
}

TEST_CASE("parts that are masked, infinities and NaN come out as the reference has them") {
  for (const auto& [name, a] : kPartsKinds) {
    if (a.dtype != "f32" || a.each > 1 || a.heads > 1) continue;
    Cutting cut(text(a), units(2));
    REQUIRE(is_in_parts(cut));
    for (const double value : {-kInfinity, kInfinity, std::nan(""), -1e32})
      for (const auto& [first, end] :
           {std::pair<int64_t, int64_t>{0, 512}, {512, 1024}, {0, a.keys}, {700, 701}, {3, 600}}) {
        INFO(name << ": " << value << " in keys " << first << " to " << end);
        std::vector<Array> inputs = drawn(cut.graph, 3);
        for (int64_t i = 0; i < inputs[0].count(); ++i)
          inputs[0].set(i, Scalar::of(DType::kF32, 1));
        for (int64_t i = first * a.size; i < end * a.size; ++i)
          inputs[1].set(i, Scalar::of(DType::kF32, value));
        check_same(cut, inputs, 1e-4);
      }
  }
}

TEST_CASE("the maximum and the sum of powers are outputs beside the result") {
  for (const char* outputs : {"return %y, %m, %l", "return %m, %y", "return %l, %y"}) {
    std::string graph = text({});
    graph.replace(graph.find("return %y"), 9, outputs);
    INFO(outputs);
    Cutting cut(graph, cpu_like());
    CHECK(cut.schedule.steps.size() == 1);
    CHECK(cut.largest() == 0);
    check_same(cut, drawn(cut.graph, 5), 1e-4);
  }
}
