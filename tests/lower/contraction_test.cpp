// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions whose rows and columns are both packed, in parts and blocks of any number.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>

#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

/// aᵀ · b, or aᵀ · bᵀ.
std::string contraction_product(int m, int n, int k, bool both) {
  return fmt::format(R"(graph g(%a: f32[{2}, {0}], %b: f32[{3}]) {{
  %c = {4}
  %x = reshape %a : [{2}, {0}, 1]
  %y = reshape %c : [{2}, 1, {1}]
  %xe = expand %x : [{2}, {0}, {1}]
  %ye = expand %y : [{2}, {0}, {1}]
  %p = mul %xe, %ye
  %s = reduce.add %p, axes=[0]
  %r = reshape %s : [{0}, {1}]
  return %r
}})",
                     m, n, k, both ? fmt::format("{}, {}", n, k) : fmt::format("{}, {}", k, n),
                     both ? "permute %b, axes=[1, 0]" : "neg %b");
}

struct Images {
  int count, inputs, outputs, size;
};

/// 3x3 windows over padded images, as frontend/nn writes them; turned: its weights the other way
/// round, as by the image.
std::string convolution(const Images& i, bool turned, const std::string& dtype = "f32") {
  const int wide = i.size + 2, line = 3 * (wide + 1);
  const auto [first, second] =
      turned ? std::pair(i.inputs, i.outputs) : std::pair(i.outputs, i.inputs);
  const std::string weights = fmt::format("{}, {}, 3, 3", first, second);
  const std::string turn =
      turned           ? "%wf = flip %wc, axes=[2, 3]\n  %wt = permute %wf, axes=[1, 0, 2, 3]"
      : dtype == "f32" ? "%wt = neg %wc"
                       : "%wt = reshape %wc : f32[" + weights + "]";
  return fmt::format(R"(graph g(%x: {dtype}[{n}, {c}, {s}, {s}], %w: {dtype}[{weights}]) {{
  %wc = cast %w : f32[{weights}]
  {turn}
  %xc = cast %x : f32[{n}, {c}, {s}, {s}]
  %xp = pad %xc, pairs=[(0, 0), (0, 0), (1, 1), (1, 1)]
  %m1 = permute %xp, axes=[0, 1, 3, 2]
  %ua = reshape %m1 : f32[{n}, {c}, {wide}, 1, {wide}]
  %ub = expand %ua : f32[{n}, {c}, {wide}, 4, {wide}]
  %uc = reshape %ub : f32[{n}, {c}, {wide}, {four}]
  %ud = shrink %uc, ranges=[(0, {n}), (0, {c}), (0, {wide}), (0, {line})]
  %ue = reshape %ud : f32[{n}, {c}, {wide}, 3, {longer}]
  %uf = shrink %ue, ranges=[(0, {n}), (0, {c}), (0, {wide}), (0, 3), (0, {s})]
  %m2 = permute %uf, axes=[0, 1, 3, 4, 2]
  %va = reshape %m2 : f32[{n}, {c}, 3, {s}, 1, {wide}]
  %vb = expand %va : f32[{n}, {c}, 3, {s}, 4, {wide}]
  %vc = reshape %vb : f32[{n}, {c}, 3, {s}, {four}]
  %vd = shrink %vc, ranges=[(0, {n}), (0, {c}), (0, 3), (0, {s}), (0, {line})]
  %ve = reshape %vd : f32[{n}, {c}, 3, {s}, 3, {longer}]
  %vf = shrink %ve, ranges=[(0, {n}), (0, {c}), (0, 3), (0, {s}), (0, 3), (0, {s})]
  %m3 = permute %vf, axes=[0, 1, 2, 4, 3, 5]
  %col = reshape %m3 : f32[{n}, 1, {k}, {pixels}]
  %rows = reshape %wt : f32[1, 1, {o}, {k}, 1]
  %re = expand %rows : f32[{n}, 1, {o}, {k}, {pixels}]
  %cr = reshape %col : f32[{n}, 1, 1, {k}, {pixels}]
  %ce = expand %cr : f32[{n}, 1, {o}, {k}, {pixels}]
  %p = mul %re, %ce
  %s = reduce.add %p, axes=[3]
  %y = reshape %s : f32[{n}, {o}, {s}, {s}]
  return %y
}})",
                     fmt::arg("n", i.count), fmt::arg("c", i.inputs), fmt::arg("o", i.outputs),
                     fmt::arg("s", i.size), fmt::arg("wide", wide), fmt::arg("four", 4 * wide),
                     fmt::arg("line", line), fmt::arg("longer", wide + 1),
                     fmt::arg("k", 9 * i.inputs), fmt::arg("pixels", i.size * i.size),
                     fmt::arg("weights", weights), fmt::arg("turn", turn),
                     fmt::arg("dtype", dtype));
}

/// Both operands are staged, and the result is right, whatever fits a cache of so many bytes.
void check_packed(const std::string& graph) {
  for (const uint32_t cache : {1U << 17, 1U << 20})
    for (const uint32_t units : {1U, 8U}) {
      Capabilities caps = cpu_like();
      caps.l2_bytes = cache;
      caps.compute_units = units;
      Builder builder;
      const std::string chosen =
          list_text(lower(parse_graph(graph, builder), caps, "", true).chosen);
      INFO(cache << " bytes, " << units << " units: " << chosen);
      CHECK(count_of(chosen, "stage") == 2);
      CHECK(count_of(chosen, "compute_at") == 1);
      CHECK(difference({graph, {}, {}}, caps, "", true).empty());
    }
}

}  // namespace

TEST_CASE("rows that lie across the sum are packed") {
  for (const auto& [m, n, k] : {std::tuple{72, 48, 130}, {67, 33, 520}})
    for (const bool both : {false, true}) check_packed(contraction_product(m, n, k, both));
}

TEST_CASE("rows that lie along the sum are read where they are") {
  const std::string graph = R"(graph g(%a: f32[96, 256], %b: f32[256, 64]) {
  %x = reshape %a : [96, 256, 1]
  %y = reshape %b : [1, 256, 64]
  %xe = expand %x : [96, 256, 64]
  %ye = expand %y : [96, 256, 64]
  %p = mul %xe, %ye
  %s = reduce.add %p, axes=[1]
  %r = reshape %s : [96, 64]
  return %r
})";
  Builder builder;
  const std::string chosen =
      list_text(lower(parse_graph(graph, builder), cpu_like(), "", true).chosen);
  CHECK(count_of(chosen, "stage") == 1);
}

TEST_CASE("short lines of pixels are rows, and outputs lanes") {
  for (const Images& i : {Images{2, 16, 32, 7}, {3, 20, 40, 8}, {1, 17, 48, 14}})
    for (const bool turned : {false, true}) check_packed(convolution(i, turned));
}

TEST_CASE("lines of pixels that fill their lanes are lanes") {
  Builder builder;
  const std::string graph = convolution({2, 16, 32, 16}, false);
  const std::string chosen =
      list_text(lower(parse_graph(graph, builder), cpu_like(), "", true).chosen);
  CHECK(count_of(chosen, "stage") == 1);
}

TEST_CASE("convolutions take matrix atoms where workgroups make tiles, edges included") {
  for (const Images& i : {Images{2, 16, 32, 7}, {1, 16, 24, 14}, {1, 3, 8, 12}})
    for (const bool turned : {false, true}) {
      const Case c{convolution(i, turned, "f16"), {}, {}};
      INFO(c.graph);
      for (const Capabilities& device : {warps_like(), groups_like(), waves_like(), gpu_like()})
        CHECK(difference(c, device, "", true) == "");
      Builder builder;
      const std::string chosen =
          list_text(lower(parse_graph(c.graph, builder), warps_like(), "", true).chosen);
      INFO(chosen);
      CHECK(count_of(chosen, "tensorize") == 1);
      CHECK(count_of(chosen, "stage") == 2);
      CHECK(difference({convolution(i, turned), {}, {}}, warps_like(), "", true) == "");
    }
}

TEST_CASE("groups of channels are products of their own, of few rows where they have few") {
  const Case c{R"(graph g(%x: f16[2, 64, 60], %w: f16[24, 16]) {
  %xc = cast %x : f32[2, 64, 60]
  %wc = cast %w : f32[24, 16]
  %xr = reshape %xc : f32[2, 4, 1, 16, 60]
  %wr = reshape %wc : f32[1, 4, 6, 16, 1]
  %xe = expand %xr : f32[2, 4, 6, 16, 60]
  %we = expand %wr : f32[2, 4, 6, 16, 60]
  %p = mul %we, %xe
  %s = reduce.add %p, axes=[3]
  %y = reshape %s : f32[2, 24, 60]
  return %y
})",
               {},
               {}};
  Builder builder;
  const std::string chosen =
      list_text(lower(parse_graph(c.graph, builder), warps_like(), "", true).chosen);
  INFO(chosen);
  CHECK(count_of(chosen, "tensorize") == 1);
  for (const Capabilities& device : {warps_like(), waves_like(), gpu_like()})
    CHECK(difference(c, device, "", true) == "");
}
