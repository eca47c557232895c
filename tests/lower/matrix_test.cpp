// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensorized kernels: what matrix atoms compute agrees with the reference, edges included.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <random>

#include "core/kernel/transforms/random_transforms.hpp"
#include "core/kernel/tree/build.hpp"
#include "core/support/error.hpp"
#include "sdk/program/text.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string shape(std::initializer_list<int> sizes) {
  std::string s = "[";
  for (const int size : sizes) s += (s.size() > 1 ? ", " : "") + std::to_string(size);
  return s + "]";
}

/// a x b + c of narrow floats, summed in f32.
Case matrix_product(int m, int k, int n, const std::string& dtype = "f16",
                    bool transposed = false) {
  const std::string all = shape({m, k, n}), out = shape({m, n});
  const std::string b = transposed ? shape({n, k}) : shape({k, n});
  std::string text = "graph g(%a: " + dtype + shape({m, k}) + ", %b: " + dtype + b + ", %c: f32" +
                     shape({n}) + ") { %aw = cast %a : f32" + shape({m, k}) +
                     " %bw = cast %b : f32" + b;
  if (transposed) text += " %bt = permute %bw, axes=[1, 0] : f32" + shape({k, n});
  text += " %a3 = reshape %aw : f32" + shape({m, k, 1}) + " %ae = expand %a3 : f32" + all +
          " %b3 = reshape %b" + (transposed ? "t" : "w") + " : f32" + shape({1, k, n}) +
          " %be = expand %b3 : f32" + all + " %p = mul %ae, %be : f32" + all +
          " %s = reduce.add %p, axes=[1] : f32" + shape({m, 1, n}) + " %r = reshape %s : f32" +
          out + " %c2 = reshape %c : f32" + shape({1, n}) + " %ce = expand %c2 : f32" + out +
          " %t = add %r, %ce : f32" + out + " %y = cast %t : " + dtype + out + " return %y }";
  return {text, {}, {}, 1e-2};
}

/// a x b of two dtypes, summed in a third.
Case summed_in(const std::string& sum, const std::string& a, const std::string& b, int m, int k,
               int n) {
  const std::string all = shape({m, k, n});
  const auto factor = [&](const std::string& name, const std::string& dtype,
                          const std::string& flat) {
    std::string text = " %" + name + "3 = reshape %" + name + " : " + dtype + flat + " %" + name +
                       "e = expand %" + name + "3 : " + dtype + all;
    if (dtype != sum) text += " %" + name + "w = cast %" + name + "e : " + sum + all;
    return text;
  };
  return {"graph g(%a: " + a + shape({m, k}) + ", %b: " + b + shape({k, n}) + ") {" +
              factor("a", a, shape({m, k, 1})) + factor("b", b, shape({1, k, n})) + " %p = mul %a" +
              (a == sum ? "e" : "w") + ", %b" + (b == sum ? "e" : "w") +
              " %s = reduce.add %p, axes=[1] %y = reshape %s : " + sum + shape({m, n}) +
              " return %y }",
          {},
          {}};
}

std::string lowered_matrix(const Case& c, const Capabilities& capabilities,
                           const std::string& transforms, bool by_templates = false) {
  Builder builder;
  return sdk::print_program(
      lower(parse_graph(c.graph, builder), capabilities, transforms, by_templates).program.view());
}

/// Two subgroups, a tile of 64 x 16, the matrices staged in shared memory.
constexpr const char* kTiled =
    "split a0 64; split a1 16; split a0.i 16; split a0.i.o 2; split a1.i 8; "
    "split r0 32; split r0.i 16; "
    "reorder a0.o a1.o a0.i.o.o a0.i.o.i a1.i.o a0.i.i a1.i.i; "
    "bind a0.o grid.y; bind a1.o grid.x; bind a0.i.o.o block.y; "
    "unroll a0.i.o.i; unroll a1.i.o; unroll a0.i.i; unroll a1.i.i; "
    "stage b0 at r0.o pad 8; stage b1 at r0.o pad 8; tensorize a0.i.i a1.i.i r0.i.i 32; "
    "fuse a0.i.i.c a1.i.i.c; split a0.i.i.c_a1.i.i.c 32; bind a0.i.i.c_a1.i.i.c.i block.x; ";

}  // namespace

TEST_CASE("a matrix atom on whole matrices") {
  const Case c = matrix_product(16, 32, 8);
  const std::string list = "split r0 16; tensorize a0 a1 r0.i 32";
  CHECK(difference(c, warps_like(), list, false) == "");
  const std::string text = lowered_matrix(c, warps_like(), list);
  CHECK_THAT(text, ContainsSubstring("matrix_multiply"));
  CHECK_THAT(text, ContainsSubstring("matrix_store"));
  const std::string one = "tensorize a0 a1 r0 32";
  CHECK(difference(matrix_product(16, 16, 8, "bf16"), warps_like(), one, false) == "");
  CHECK(difference(matrix_product(16, 16, 8, "f16", true), warps_like(), one, false) == "");
  CHECK(difference(matrix_product(16, 32, 16), waves_like(), "split r0 16; tensorize a0 a1 r0.i 64",
                   false) == "");
}

TEST_CASE("an atom is used where what it does otherwise is what the device declares") {
  struct Row {
    bool flushes, reduces, truncates;
    uint32_t numerics;
    bool is_used;
  };
  constexpr Row kRows[] = {
      {false, false, true, 0, true},
      {true, false, false, 0, false},
      {true, false, false, kFlushInput, false},
      {true, false, false, kFlushInput | kFlushOutput, true},
      {false, true, false, kFlushInput | kFlushOutput, false},
  };
  for (const Row& row : kRows) {
    INFO(row.flushes << row.reduces << row.truncates << " on a device of " << row.numerics);
    Capabilities device = warps_like();
    device.numerics = row.numerics;
    for (MatrixAtom& atom : device.atoms) {
      atom.flushes = row.flushes, atom.reduces = row.reduces, atom.truncates = row.truncates;
    }
    const bool is_used =
        lowered_matrix(matrix_product(64, 64, 64), device, "", true).find("matrix_multiply") !=
        std::string::npos;
    CHECK(is_used == row.is_used);
    const std::string list = "split r0 16; tensorize a0 a1 r0.i 32";
    if (row.is_used) {
      CHECK_NOTHROW(lowered_matrix(matrix_product(16, 32, 8), device, list));
    } else {
      CHECK_THROWS_AS(lowered_matrix(matrix_product(16, 32, 8), device, list), Error);
    }
  }
}

TEST_CASE("an atom that cuts f32 to tf32 is used where the graph allows it") {
  Capabilities device = warps_like();
  device.atoms = {{.id = 3,
                   .m = 16,
                   .n = 8,
                   .k = 8,
                   .a = DType::kF32,
                   .b = DType::kF32,
                   .accumulator = DType::kF32,
                   .a_lanes = 4,
                   .b_lanes = 2,
                   .c_lanes = 4,
                   .subgroup = 32,
                   .reduces = true}};
  for (const auto& [said, is_used] : {std::pair<std::string, bool>{"", false},
                                      {", matmul=exact", false},
                                      {", matmul=tf32", true},
                                      {", matmul=bf16", true}}) {
    Case c = matrix_product(64, 64, 64, "f32");
    c.graph.insert(c.graph.find("axes=[1] : f32[64, 1, 64]") + 8, said);
    INFO(c.graph);
    CHECK((lowered_matrix(c, device, "", true).find("matrix_multiply") != std::string::npos) ==
          is_used);
    CHECK(difference(c, device, "", true) == "");
    const std::string list = "split r0 8; tensorize a0 a1 r0.i 32";
    Case small = matrix_product(16, 16, 8, "f32");
    small.graph.insert(small.graph.find("axes=[1] : f32[16, 1, 8]") + 8, said);
    if (is_used) {
      CHECK_NOTHROW(lowered_matrix(small, device, list));
    } else {
      CHECK_THROWS_AS(lowered_matrix(small, device, list), Error);
    }
  }
}

TEST_CASE("matrix atoms on shared tiles take edges that do not divide") {
  constexpr std::array<int, 3> kSizes[] = {{32, 32, 16}, {64, 64, 32}, {45, 50, 23}, {90, 31, 17}};
  for (const auto& [m, k, n] : kSizes) {
    INFO(m << " " << k << " " << n);
    CHECK(difference(matrix_product(m, k, n), warps_like(), kTiled, false) == "");
    CHECK(difference(matrix_product(m, k, n, "f16", true), warps_like(), kTiled, false) == "");
  }
}

TEST_CASE("unrolled loops between the atom's axes make its tile wider") {
  const std::string list =
      "split a1 8; split r0 16; reorder a0 a1.o a1.i; unroll a1.o; "
      "tensorize a0 a1.i r0.i 32; fuse a0.c a1.o.c; fuse a0.c_a1.o.c a1.i.c; "
      "split a0.c_a1.o.c_a1.i.c 128; split a0.c_a1.o.c_a1.i.c.i 4; "
      "vectorize a0.c_a1.o.c_a1.i.c.i.i; bind a0.c_a1.o.c_a1.i.c.i.o block.x";
  const Case c = matrix_product(16, 32, 32);
  CHECK(difference(c, warps_like(), list, false) == "");
  CHECK_THAT(lowered_matrix(c, warps_like(), list),
             ContainsSubstring("sums4 = param shared f32[640]"));
}

TEST_CASE("tiles of matrix atoms that are filled ahead hold the same") {
  constexpr std::array<int, 3> kSizes[] = {
      {32, 32, 16}, {64, 256, 32}, {45, 150, 23}, {90, 31, 17}};
  for (const char* stages : {"2", "3", "5"}) {
    const std::string list = std::string(kTiled) + "multi_buffer r0.o " + stages;
    for (const auto& [m, k, n] : kSizes) {
      INFO(stages << " " << m << " " << k << " " << n);
      CHECK(difference(matrix_product(m, k, n), warps_like(), list, false) == "");
      CHECK(difference(matrix_product(m, k, n, "f16", true), warps_like(), list, false) == "");
    }
  }
}

TEST_CASE(
    "rules fill tiles ahead where the device copies without waiting and two groups have room") {
  Capabilities large = warps_like();
  large.max_shared_bytes = 163 << 10;
  const Case c = matrix_product(130, 256, 128);
  const std::string text = lowered_matrix(c, large, "", true);
  CHECK_THAT(text, ContainsSubstring("async_copy.16"));
  CHECK_THAT(text, ContainsSubstring("async_wait 1"));
  CHECK(difference(c, large, "", true) == "");
  CHECK(difference(matrix_product(70, 96, 64, "f32"), large, "", true) == "");
  CHECK_THAT(lowered_matrix(c, waves_like(), "", true), !ContainsSubstring("async"));
  CHECK_THAT(lowered_matrix(c, warps_like(), "", true), !ContainsSubstring("async"));
  // Atoms take zeros from a tile; sums in registers would have a mask in each block.
  const Case edged = matrix_product(130, 250, 128), plain = matrix_product(130, 250, 128, "f32");
  CHECK_THAT(lowered_matrix(edged, large, "", true), ContainsSubstring("async_copy"));
  CHECK(difference(edged, large, "", true) == "");
  CHECK_THAT(lowered_matrix(plain, large, "", true), !ContainsSubstring("async"));
}

TEST_CASE("atoms of several subgroups take tiles in lines, whatever lies along them") {
  Case both =
      matrix_product(70, 100, 130);  // rows of the first operand along the sum, or along the rows
  const std::string rows = "%aw = cast %a : f32[70, 100]";
  both.graph.replace(both.graph.find(rows), rows.size(),
                     "%at = cast %a : f32[100, 70] %aw = permute %at, axes=[1, 0] : f32[70, 100]");
  both.graph.replace(both.graph.find("f16[70, 100]"), 12, "f16[100, 70]");
  for (const Case& c : {matrix_product(128, 128, 128), matrix_product(130, 150, 140), both,
                        matrix_product(70, 260, 130, "f16", true)}) {
    const std::string text = lowered_matrix(c, groups_like(), "", true);
    CHECK_THAT(text, ContainsSubstring(".lines"));
    CHECK_THAT(text, ContainsSubstring("matrix_multiply.3"));
    CHECK(difference(c, groups_like(), "", true) == "");
  }
  // Too small for two of them.
  CHECK_THAT(lowered_matrix(matrix_product(40, 64, 40), groups_like(), "", true),
             !ContainsSubstring(".lines"));
}

TEST_CASE("tiles in lines hold the same for every reader") {
  const std::string list =
      "split a0 16; split a1 64; split r0 128; reorder a0.o a1.o a0.i a1.i; bind a0.i block.y; "
      "bind "
      "a1.i block.x; stage b0 at r0.o pad 4 lines; stage b1 at r0.o lines; bind b0.c0 block.y; ";
  for (const std::string rest :
       {"bind b1.c1 block.x",
        "split b1.c1 8; vectorize b1.c1.i; split b1.c0 2; bind b1.c0.o block.x",
        "split b1.c1 16; vectorize b1.c1.i; split b1.c0 2; bind b1.c0.o block.x"}) {
    CHECK_THAT(lowered_matrix(matrix_product(64, 256, 48), warps_like(), list + rest, false),
               ContainsSubstring("xor"));
    CHECK(difference(matrix_product(64, 256, 48), warps_like(), list + rest, false) == "");
    CHECK(difference(matrix_product(45, 137, 50), warps_like(), list + rest, false) == "");
  }
}

TEST_CASE("atoms of several subgroups take windows that begin with a piece of a line") {
  // Windows of 16 that begin `step` elements after one another, in rows of 128.
  const auto windows = [](int64_t step) {
    const int64_t apart = 128 + step, count = 1 + 112 / step;
    return Case{fmt::format(R"(graph g(%a: f16[64, 256], %b: f16[{2}, 64]) {{
  %a1 = reshape %a : f16[64, 2, 1, 128]
  %a2 = expand %a1 : f16[64, 2, 30, 128]
  %a3 = reshape %a2 : f16[64, 2, 3840]
  %a4 = shrink %a3, ranges=[(0,64),(0,2),(0,{3})] : f16[64, 2, {3}]
  %a5 = reshape %a4 : f16[64, 2, {1}, {0}]
  %a6 = shrink %a5, ranges=[(0,64),(0,2),(0,{1}),(0,16)] : f16[64, 2, {1}, 16]
  %a7 = reshape %a6 : f16[64, 2, {1}, 16, 1]
  %a8 = expand %a7 : f16[64, 2, {1}, 16, 64]
  %b1 = reshape %b : f16[1, 2, {1}, 16, 64]
  %b2 = expand %b1 : f16[64, 2, {1}, 16, 64]
  %af = cast %a8 : f32[64, 2, {1}, 16, 64]
  %bf = cast %b2 : f32[64, 2, {1}, 16, 64]
  %p = mul %af, %bf
  %s = reduce.add %p, axes=[1, 2, 3]
  %r = reshape %s : f32[64, 64]
  return %r
}})",
                            apart, count, 2 * count * 16, apart * count),
                {},
                {}};
  };
  const std::string list =
      "split a0 32; split a1 64; split a1.i 16; reorder a0.o a1.o a1.i.o a0.i a1.i.i; bind a0.o "
      "block.y; unroll a1.i.o; unroll a0.i; unroll a1.i.i; stage b0 at r0 lines; stage b1 at r0 "
      "lines; tensorize a0.i a1.i.i r2 64; fuse a0.i.c a1.i.i.c; split a0.i.c_a1.i.i.c 64; bind "
      "a0.i.c_a1.i.i.c.i block.x";
  CHECK(difference(windows(16), groups_like(), list, false) == "");
  for (const int64_t step : {4, 8})
    CHECK_THROWS_WITH(lowered_matrix(windows(step), groups_like(), list, false),
                      ContainsSubstring("tensorize a0.i a1.i.i r2 64: expected"));
}

TEST_CASE("rules give contractions matrix atoms where the dtypes match, tiles in registers else") {
  constexpr std::array<int, 3> kSizes[] = {{32, 32, 32}, {40, 50, 72}, {133, 34, 35}, {64, 16, 96}};
  for (const auto& [m, k, n] : kSizes) {
    INFO(m << " " << k << " " << n);
    for (const std::string dtype : {"f16", "bf16", "f32"}) {
      const Case c = matrix_product(m, k, n, dtype, n == 72);
      CHECK(difference(c, warps_like(), "", true) == "");
      CHECK(difference(c, waves_like(), "", true) == "");
      CHECK(difference(c, software_like(), "", true) == "");
      const bool atoms =
          lowered_matrix(c, warps_like(), "", true).find("matrix_multiply") != std::string::npos;
      CHECK(atoms == (dtype != "f32"));
    }
  }
}

TEST_CASE("products with few rows or columns take thin tiles") {
  constexpr std::array<int, 3> kSizes[] = {{4, 64, 256},  {16, 80, 200}, {5, 33, 140}, {24, 64, 96},
                                           {200, 64, 16}, {130, 72, 10}, {96, 40, 24}};
  for (const auto& [m, k, n] : kSizes) {
    INFO(m << " " << k << " " << n);
    for (const std::string dtype : {"f16", "f32"}) {
      for (const bool transposed : {false, true}) {
        const Case c = matrix_product(m, k, n, dtype, transposed);
        for (const Capabilities& device : {warps_like(), groups_like(), waves_like(), gpu_like()})
          CHECK(difference(c, device, "", true) == "");
        if (k % 16 == 0)
          CHECK_THAT(lowered_matrix(c, warps_like(), "", true), ContainsSubstring("barrier block"));
        if (dtype == "f16")
          CHECK_THAT(lowered_matrix(c, warps_like(), "", true),
                     ContainsSubstring("matrix_multiply"));
      }
    }
  }
  // Few workgroups with thin tiles are done after many without.
  Capabilities large = warps_like();
  large.compute_units = 108;
  CHECK_THAT(lowered_matrix(matrix_product(4, 64, 128), large, "", true),
             !ContainsSubstring("matrix_multiply"));
  CHECK_THAT(lowered_matrix(matrix_product(4, 64, 256), large, "", true),
             ContainsSubstring("matrix_multiply"));
  CHECK_THAT(lowered_matrix(matrix_product(4, 65, 256), large, "", true),
             !ContainsSubstring("matrix_multiply"));
  // Of three rows an atom's other thirteen cost nothing.
  CHECK_THAT(lowered_matrix(matrix_product(3, 64, 256), warps_like(), "", true),
             ContainsSubstring("matrix_multiply"));
}

TEST_CASE("products of bytes, floats and doubles have atoms where the device does") {
  struct Row {
    const char *sum, *a, *b;
    MatrixAtom atom;
  };
  using enum DType;
  const Row rows[] = {
      {"i32", "i8", "i8", {3, 16, 8, 32, kI8, kI8, kI32, 16, 8, 4, 32}},
      {"i32", "u8", "i8", {4, 16, 8, 32, kU8, kI8, kI32, 16, 8, 4, 32}},
      {"i32", "i8", "i8", {5, 16, 16, 16, kI8, kI8, kI32, 16, 16, 8, 32}},  // held twice
      {"f64", "f64", "f64", {6, 8, 8, 4, kF64, kF64, kF64, 1, 1, 2, 32}},
      {"f32", "f32", "f32", {7, 32, 32, 2, kF32, kF32, kF32, 1, 1, 16, 64}},
      {"f32", "f8e4m3", "f8e5m2", {8, 16, 8, 32, kF8E4M3, kF8E5M2, kF32, 16, 8, 4, 32}},
  };
  constexpr std::array<int, 3> kSizes[] = {{64, 64, 64}, {45, 50, 72}, {130, 34, 35}};
  for (const Row& row : rows) {
    Capabilities device = row.atom.subgroup == 64 ? waves_like() : warps_like();
    device.atoms = {row.atom};
    for (const auto& [m, k, n] : kSizes) {
      const Case c = summed_in(row.sum, row.a, row.b, m, k, n);
      INFO(c.graph);
      CHECK_THAT(lowered_matrix(c, device, "", true), ContainsSubstring("matrix_multiply"));
      CHECK(difference(c, device, "", true) == "");
    }
    const MatrixAtom& atom = row.atom;
    const std::string list = "split r0 " + std::to_string(atom.k) + "; tensorize a0 a1 r0.i " +
                             std::to_string(atom.subgroup);
    const Case whole = summed_in(row.sum, row.a, row.b, atom.m, 2 * atom.k, atom.n);
    INFO(whole.graph);
    CHECK_THAT(lowered_matrix(whole, device, list), ContainsSubstring("matrix_multiply"));
    CHECK(difference(whole, device, list, false) == "");
    // Of other dtypes there is none.
    const Case other = summed_in("i32", "i16", "i8", 64, 64, 64);
    CHECK_THAT(lowered_matrix(other, device, "", true), !ContainsSubstring("matrix_multiply"));
  }
}

TEST_CASE("atoms with smaller tiles go before registers with larger ones") {
  Capabilities device = waves_like();  // no room for 128 x 128 sums and their operands
  device.compute_units = 1;
  const Case c = matrix_product(256, 64, 256);
  CHECK_THAT(lowered_matrix(c, device, "", true), ContainsSubstring("matrix_multiply"));
  CHECK(difference(c, device, "", true) == "");
}

TEST_CASE("small atoms have tiles that do not unroll too far") {
  Capabilities device = warps_like();
  device.compute_units = 1;
  MatrixAtom& atom = device.atoms[0];
  atom.m = atom.n = atom.k = 8;
  atom.a_lanes = atom.b_lanes = atom.c_lanes = 2;
  for (auto& layout : atom.layouts) layout.reset();
  device.atoms.resize(1);
  const Case c = matrix_product(256, 32, 256);
  CHECK_THAT(lowered_matrix(c, device, "", true), ContainsSubstring("matrix_multiply"));
  CHECK(difference(c, device, "", true) == "");
}

TEST_CASE("contractions of symbolic sizes and batches are tiled too") {
  const Case symbolic{
      R"(graph g(%a: f32[n, k], %b: f32[k, m]) where 1 <= n <= 500, 1 <= k <= 500, 1 <= m <= 500 {
        %a3 = reshape %a : f32[n, k, 1]
        %ae = expand %a3 : f32[n, k, m]
        %b3 = reshape %b : f32[1, k, m]
        %be = expand %b3 : f32[n, k, m]
        %p = mul %ae, %be : f32[n, k, m]
        %s = reduce.add %p, axes=[1] : f32[n, 1, m]
        return %s })",
      {{"n", 37}, {"k", 21}, {"m", 70}},
      {}};
  const Case batched{R"(graph g(%a: f32[3, 40, 36], %b: f32[3, 36, 48]) {
        %a3 = reshape %a : f32[3, 40, 36, 1]
        %ae = expand %a3 : f32[3, 40, 36, 48]
        %b3 = reshape %b : f32[3, 1, 36, 48]
        %be = expand %b3 : f32[3, 40, 36, 48]
        %p = mul %ae, %be : f32[3, 40, 36, 48]
        %s = reduce.add %p, axes=[2] : f32[3, 40, 1, 48]
        return %s })",
                     {},
                     {}};
  for (const Case& c : {symbolic, batched}) {
    CHECK_THAT(lowered_matrix(c, warps_like(), "", true), ContainsSubstring("barrier block"));
    for (const Capabilities& device : {warps_like(), gpu_like(), software_like()})
      CHECK(difference(c, device, "", true) == "");
  }
}

TEST_CASE("any legal list after tensorize gives the same result") {
  const std::pair<const char*, Case> starts[] = {
      {"split r0 16; tensorize a0 a1 r0.i 32; ", matrix_product(16, 32, 8)},
      {"split a0 16; split r0 16; tensorize a0.i a1 r0.i 32; ",
       matrix_product(32, 16, 8, "f16", true)},
      {kTiled, matrix_product(45, 50, 23)},
  };
  int longer = 0, ran = 0;
  for (const auto& [start, c] : starts) {
    Builder builder;
    Kernel kernel = build_kernel(parse_graph(c.graph, builder));
    apply_transforms(kernel, parse_transforms(start));
    const bool tiled = start == kTiled;  // large: few of those
    for (uint32_t seed = 1; seed <= (tiled ? 6u : 24u); ++seed) {
      std::mt19937 random(seed);
      const Below below = below_of(random);
      const Chosen more = random_transforms(
          kernel, below, {.steps = tiled ? 3 : 8, .vectors = true, .threads = !tiled});
      longer += !more.list.empty();
      const std::string list = std::string(start) + list_text(more);
      INFO(list);
      try {
        const std::string wrong = difference(c, warps_like(), list, false, seed);
        CHECK(wrong == "");
        ++ran;
      } catch (const Error& e) {
        INFO(e.what());
        CHECK(e.kind() == ErrorKind::kUnsupported);
      }
    }
  }
  CHECK(longer > 30);
  CHECK(ran > 40);
}

TEST_CASE("tensorize is refused with what was expected") {
  const std::pair<const char*, const char*> bad[] = {
      {"tensorize a0 r0 a1 32", "expected"},
      {"tensorize a1 a0 r0 32", "expected a1 around a0, got another nesting"},
      {"bind a0 block.x; tensorize a0 a1 r0 32", "not to be bound yet"},
      {"split a0 4; bind a0.o block.x; tensorize a0.i a1 r0 32", "no threads of a subgroup"},
      {"split r0 5; tensorize a0 a1 r0.i 32", "expected whole matrices or shared tiles"},
      {"tensorize a0 a1 r0 32; bind a0 block.y", "expected a0 not to be bound yet, got matrix"},
      {"split a0 4; tensorize a0.i a1 r0 32; bind a0.o block.y", "expected this before tensorize"},
      {"split a0 4; tensorize a0.i a1 r0 32; vectorize a0.o", "expected this before tensorize"},
      {"split r0 8; split r0.o 2; tensorize a0 a1 r0.i 32; pad r0.o.o 3",
       "expected whole matrices or shared tiles, got edges in a matrix atom"},
      {"tensorize a0 a1 r0 32; split a1.c 4; bind a1.c.i block.x", "expected the 32 threads"},
  };
  for (const auto& [list, message] : bad) {
    INFO(list);
    CHECK_THROWS_WITH(lowered_matrix(matrix_product(16, 16, 8), warps_like(), list),
                      ContainsSubstring(message));
  }
  CHECK_THROWS_WITH(
      lowered_matrix(matrix_product(16, 16, 8), waves_like(), "tensorize a0 a1 r0 32"),
      ContainsSubstring("expected a matrix atom 16x8x16 of f16, f16 and f32 by 32 "
                        "threads on the device, got none"));
}
