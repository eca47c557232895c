// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prologue fusion: factors computed from quantised weights, once for a tile, or by few rows.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/kernel/templates/templates.hpp"
#include "core/kernel/tree/build.hpp"
#include "core/support/error.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Rows of f32 by columns in blocks of a scale and 32 bytes.
Case computed_product(int64_t rows, int64_t columns, int64_t blocks) {
  return {fmt::format(R"(graph g(%x: f32[{0}, {3}], %b: i8[{1}, {4}]) {{
    %r = reshape %b : i8[{1}, {2}, 33]
    %s = shrink %r, ranges=[(0,{1}),(0,{2}),(0,1)] : i8[{1}, {2}, 1]
    %d = cast %s : f32[{1}, {2}, 1]
    %q = shrink %r, ranges=[(0,{1}),(0,{2}),(1,33)] : i8[{1}, {2}, 32]
    %f = cast %q : f32[{1}, {2}, 32]
    %e = expand %d : f32[{1}, {2}, 32]
    %w = mul %f, %e
    %w1 = reshape %w : f32[1, {1}, {3}]
    %w2 = expand %w1 : f32[{0}, {1}, {3}]
    %x1 = reshape %x : f32[{0}, 1, {3}]
    %x2 = expand %x1 : f32[{0}, {1}, {3}]
    %p = mul %x2, %w2
    %o = reduce.add %p, axes=[2]
    return %o }})",
                      rows, columns, blocks, 32 * blocks, 33 * blocks),
          {},
          {}};
}

std::string list_of(const Case& c, const Capabilities& capabilities) {
  Builder builder;
  return list_text(choose_transforms(build_kernel(parse_graph(c.graph, builder)), capabilities));
}

}  // namespace

TEST_CASE("what rules do with weights in blocks of bits computes the same") {
  const std::pair<const char*, Capabilities> devices[] = {
      {"scalar", scalar_like()}, {"cpu", cpu_like()},     {"dots", dots_like()},
      {"gpu", gpu_like()},       {"warps", warps_like()}, {"software", software_like()}};
  for (const auto& [device, capabilities] : devices) {
    for (const int64_t rows : {1, 3, 16, 37}) {
      INFO(rows << " rows on " << device);
      CHECK(difference(computed_product(rows, 35, 5), capabilities, "", true) == "");
    }
  }
}

TEST_CASE(
    "weights in blocks of bits: lanes along a block, packed as they are computed for many rows") {
  const std::string one = list_of(computed_product(1, 64, 128), cpu_like());
  CHECK_THAT(one, ContainsSubstring("split r0 32; split r0.i 16; vectorize r0.i.i; unroll r0.i.o"));
  const std::string few = list_of(computed_product(16, 64, 128), cpu_like());
  CHECK_THAT(few, ContainsSubstring("vectorize r0.i.i") && !ContainsSubstring("stage"));
  const std::string many = list_of(computed_product(64, 64, 512), cpu_like());
  CHECK_THAT(many,
             ContainsSubstring("compute_at r0.o.i a1.o; stage b1 at r0.o.o computed; vectorize "
                               "b1.c3; split b1.c2 16; unroll b1.c2.i"));
  CHECK_THAT(list_of(computed_product(64, 64, 16), gpu_like()),
             ContainsSubstring("stage b1 at r0.o pad"));
}

TEST_CASE("a tile of what is computed is refused where it is not one factor of inputs") {
  const auto refused = [](const char* value, const char* list, const char* message) {
    const std::string text = fmt::format(
        "graph g(%x: f32[6, 8], %y: f32[6, 8]) {{\n  {}\n  %s = reduce.add %p, axes=[1]\n"
        "  return %s\n}}",
        value);
    Builder builder;
    Kernel kernel = build_kernel(parse_graph(text, builder));
    CHECK_THROWS_WITH(apply_transforms(kernel, parse_transforms(list)), ContainsSubstring(message));
  };
  const char* sum = "%a = add %x, %y\n  %p = mul %a, %x";
  refused("%p = mul %x, %x", "stage b0 at a0 computed", "one factor that reads the buffer");
  refused("%p = add %x, %y", "stage b0 at a0 computed", "one factor that reads the buffer");
  refused(sum, "stage b0 at a0 computed", "one factor that reads the buffer");
  refused(sum, "stage b1 at a0 computed; stage b1 at r0 computed",
          "a factor that reads it inside r0");
  refused("%a = sub %x, %y\n  %p = mul %a, %y", "stage b0 at r0 computed; stage b9 at a0 computed",
          "a buffer b0 to b3");
}
