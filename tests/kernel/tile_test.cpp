// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of windows: each element of the source once, or one axis for each loop.
#include <fmt/format.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/ir/text/text.hpp"
#include "core/kernel/transforms/transform.hpp"
#include "core/kernel/tree/build.hpp"

using namespace tenon;
using Catch::Matchers::ContainsSubstring;

namespace {

/// y[o, i] = sum over c and j of w[o, c, j] x[c, i * step + j - before], i below 16 and j below 3.
std::string staged(int64_t length, int64_t before, int64_t step, const char* list) {
  Builder builder;
  const int64_t longer = length + 1, copies = 4;
  const Graph graph = parse_graph(fmt::format(R"(graph g(%x: f32[4, {0}], %w: f32[5, 4, 3]) {{
        %p = pad %x, pairs=[(0, 0), ({1}, {1})]
        %a = reshape %p : f32[4, 1, {2}]
        %b = expand %a : f32[4, {3}, {2}]
        %c = reshape %b : f32[4, {4}]
        %d = shrink %c, ranges=[(0, 4), (0, {5})]
        %e = reshape %d : f32[4, 3, {6}]
        %f = shrink %e, ranges=[(0, 4), (0, 3), (0, {7})]
        %g = reshape %f : f32[4, 3, 16, {8}]
        %h = shrink %g, ranges=[(0, 4), (0, 3), (0, 16), (0, 1)]
        %i = reshape %h : f32[1, 4, 3, 16]
        %j = expand %i : f32[5, 4, 3, 16]
        %k = reshape %w : f32[5, 4, 3, 1]
        %l = expand %k : f32[5, 4, 3, 16]
        %m = mul %l, %j
        %s = reduce.add %m, axes=[1, 2]
        %y = reshape %s : f32[5, 16]
        return %y }})",
                                              length - 2 * before, before, length, copies,
                                              copies * length, 3 * longer, longer, 16 * step, step),
                                  builder);
  Kernel kernel = build_kernel(graph, {});
  apply_transforms(kernel, parse_transforms(list));
  return print(kernel);
}

}  // namespace

TEST_CASE("windows that overlap are staged as the line that they read") {
  const std::string plain = staged(18, 0, 1, "stage b0 at a0");
  CHECK_THAT(plain, ContainsSubstring("b0_tile: f32[72] scratch"));
  CHECK_THAT(plain, ContainsSubstring("b3[b0.c0] = b0[b0.c0]"));
  CHECK_THAT(plain, ContainsSubstring("[a1 + r0*18 + r1]"));
}

TEST_CASE("the edges of a line are filled in its tile") {
  const std::string padded = staged(18, 1, 1, "stage b0 at a0");
  CHECK_THAT(padded, ContainsSubstring("b0_tile: f32[72] scratch"));
  CHECK_THAT(padded, ContainsSubstring("where 0 < b0.c1 && b0.c1 < 17"));
  CHECK_THAT(padded, ContainsSubstring("[a1 + r0*18 + r1]"));
}

TEST_CASE("a tile of windows reaches no further than the last real one") {
  const std::string tail = staged(18, 0, 1, "split a1 10; reorder a1.o a0; stage b0 at a0");
  CHECK_THAT(tail, ContainsSubstring("b0_tile: f32[48] scratch"));
  CHECK_THAT(tail, ContainsSubstring("real where a1.o*10 + b0.c1 < 18"));
}

TEST_CASE(
    "windows a step apart are one line where they overlap, and lanes stay beside each other") {
  const std::string apart = staged(34, 0, 2, "stage b0 at a0");
  CHECK_THAT(apart, ContainsSubstring("b0_tile: f32[132] scratch"));
  CHECK_THAT(apart, ContainsSubstring("[a1*2 + r0*33 + r1]"));
  const std::string lanes = staged(34, 0, 2, "vectorize a1; stage b0 at a0");
  CHECK_THAT(lanes, ContainsSubstring("b0_tile: f32[192] scratch"));
  CHECK_THAT(lanes, ContainsSubstring("[a1 + r0*48 + r1*16]"));
}
