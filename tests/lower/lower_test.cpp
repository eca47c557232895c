// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a lowered program looks like: arguments, index width, masks, alignment, limits.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sstream>

#include "core/support/error.hpp"
#include "sdk/program/text.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

LoweredKernel lower_text(const std::string& text, const Capabilities& capabilities,
                         const std::string& transforms = "", bool by_templates = false,
                         const std::vector<int>& alias = {}) {
  Builder builder;
  return test::lower(parse_graph(text, builder), capabilities, transforms, by_templates, alias);
}

std::string program(const LoweredKernel& kernel) {
  return sdk::print_program(kernel.program.view());
}

std::string addition(const std::string& shape, const std::string& where = "") {
  return "graph g(%x: f32" + shape + ", %y: f32" + shape + ")" + where +
         " { %s = add %x, %y : f32" + shape + " return %s }";
}

/// Six rows of eight by as many columns, and what becomes of their product %s.
std::string product_of(int columns, const std::string& rest) {
  return fmt::format(R"(graph g(%x: f32[6, 8], %w: f32[8, {0}]) {{
    %a = reshape %x : f32[6, 8, 1]
    %b = expand %a : f32[6, 8, {0}]
    %c = reshape %w : f32[1, 8, {0}]
    %d = expand %c : f32[6, 8, {0}]
    %p = mul %b, %d
    %s = reduce.add %p, axes=[1]
    {1} }})",
                     columns, rest);
}

}  // namespace

TEST_CASE("arguments follow the params: buffers, then symbols") {
  const LoweredKernel k =
      lower_text(addition("[n, m]", " where 1 <= n <= 9, 1 <= m <= 9"), scalar_like());
  REQUIRE(k.arguments.size() == 5);
  CHECK(k.arguments[0].kind == LaunchArgument::Kind::kInput);
  CHECK(k.arguments[1].index == 1);
  CHECK(k.arguments[2].kind == LaunchArgument::Kind::kOutput);
  CHECK(k.arguments[3].value.name() == "m");
  CHECK(k.arguments[4].value.name() == "n");
}

TEST_CASE("an aliased output is bound once, as its input") {
  const LoweredKernel k = lower_text(addition("[8]"), scalar_like(), "", false, {1});
  REQUIRE(k.arguments.size() == 2);
  CHECK(k.arguments[1].kind == LaunchArgument::Kind::kInput);
  CHECK_THAT(program(k), ContainsSubstring("read write"));
}

TEST_CASE("indices are i32 where they provably fit") {
  CHECK_THAT(program(lower_text(addition("[1000, 1000]"), scalar_like())),
             !ContainsSubstring("i64"));
  CHECK_THAT(program(lower_text(addition("[50000, 50000]"), scalar_like())),
             ContainsSubstring("i64"));
  Capabilities narrow = scalar_like();
  narrow.index_bits = 32;
  CHECK_THROWS_WITH(lower_text(addition("[50000, 50000]"), narrow),
                    ContainsSubstring("expected indices below 2^31"));
  // The position is beyond 2^31 / 576, but what it is multiplied with is a remainder of it.
  const char* const every_row = R"(graph g(%x: f32[64, 576]) {
    %c = shrink %x, ranges=[(0, 64), (0, 1)]
    %r = reshape %c : f32[1, 64, 1]
    %e = expand %r : f32[32, 64, 3136]
    return %e })";
  CHECK_NOTHROW(lower_text(every_row, narrow, "fuse a0 a1; fuse a0_a1 a2"));
}

TEST_CASE("full tiles carry no mask, a tail does") {
  const std::string divides =
      program(lower_text(addition("[64]"), cpu_like(), "split a0 16; vectorize a0.i"));
  CHECK_THAT(divides, !ContainsSubstring("cmplt"));
  CHECK(count_of(divides, "aligned") == 3);
  const std::string tail =
      program(lower_text(addition("[70]"), cpu_like(), "split a0 16; vectorize a0.i"));
  CHECK(count_of(tail, "cmplt") == 1);
  CHECK(count_of(tail, "store") == 2);
}

TEST_CASE("copies that stand beyond the end compute nothing") {
  const std::string text = product_of(48, "return %s");
  const std::string rows = program(lower_text(text, cpu_like(), "split a0 4; unroll a0.i"));
  CHECK(count_of(rows, "contract") == 4 + 2);
  CHECK(count_of(rows, "store") == 4 + 2);
  // The last workgroup is known to be the last.
  const std::string columns = program(
      lower_text(text, cpu_like(),
                 "split a1 32; split a1.i 16; unroll a1.i.o; vectorize a1.i.i; bind a1.o grid.x"));
  CHECK(count_of(columns, "contract") == 2 + 1);
  CHECK(count_of(columns, "store") == 2 + 1);
}

TEST_CASE("loops over the sums of full tiles carry no mask") {
  const std::string text =
      program(lower_text(product_of(48, "%t = exp %s\n return %t"), cpu_like(),
                         "split a0 3; split a1 32; unroll a0.i; split a1.i 16; "
                         "unroll a1.i.o; vectorize a1.i.i; reorder a1.o a0.o a0.i; "
                         "compute_at r0 a0.o; bind a1.o grid.x"));
  const size_t full = text.find("if "), tail = text.find("else");
  REQUIRE(full < tail);
  REQUIRE(tail != std::string::npos);
  const std::string inside = text.substr(full, tail - full);
  INFO(text);
  CHECK(count_of(inside, " exp ") == 1);
  CHECK(count_of(inside, " cmplt ") + count_of(inside, " min ") == 0);
  CHECK(count_of(text.substr(tail), " cmplt ") > 0);
}

TEST_CASE("a tail reads tiles without masks, and ends where nothing is real") {
  const std::string text =
      program(lower_text(product_of(40, "return %s"), cpu_like(),
                         "split a0 4; split a1 16; split a1.o 2; vectorize a1.i; "
                         "unroll a0.i; reorder a1.o.o a1.o.i a0.o a0.i; "
                         "stage b1 at a1.o.i; stage b0 at a1.o.o; "
                         "bind a1.o.o grid.x"));
  INFO(text);
  size_t loads = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("load %b") == std::string::npos) continue;
    ++loads;
    CHECK(count_of(line, ", ") == 1);
  }
  CHECK(loads > 0);
  // The second of two workgroups has one panel of its two: of rows and of panels a least.
  CHECK(count_of(text, " min ") == 2);
}

TEST_CASE("large outputs are streamed past the caches") {
  CHECK_THAT(program(lower_text(addition("[4096, 4096]"), cpu_like(), "", true)),
             ContainsSubstring("stream"));
  // What a kernel reads fills a cache too: 48 MiB altogether, and 24.
  CHECK_THAT(program(lower_text(addition("[2048, 2048]"), cpu_like(), "", true)),
             ContainsSubstring("stream"));
  CHECK_THAT(program(lower_text(addition("[1024, 2048]"), cpu_like(), "", true)),
             !ContainsSubstring("stream"));
  CHECK_THAT(program(lower_text(addition("[64, 64]"), cpu_like(), "", true)),
             !ContainsSubstring("stream"));
  CHECK_THAT(program(lower_text(addition("[4096, 4096]"), cpu_like(), "", true, {0})),
             !ContainsSubstring("stream"));
}

TEST_CASE("what does not change leaves the loops") {
  const std::string text = program(lower_text(R"(graph g(%x: f32[64], %y: f32[1]) {
    %e = exp2 %y : f32[1]
    %b = expand %e : f32[64]
    %z = mul %x, %b : f32[64]
    return %z })",
                                              scalar_like()));
  CHECK(text.find("exp2") < text.find("loop"));
}

TEST_CASE("a device's limits are refused by name") {
  CHECK_THROWS_WITH(lower_text(addition("[64]"), scalar_like(), "vectorize a0"),
                    ContainsSubstring("expected vectors on the device"));
  CHECK_THROWS_WITH(lower_text(addition("[64]"), scalar_like(), "bind a0 block.x"),
                    ContainsSubstring("threads"));
  Capabilities grid = scalar_like();
  grid.max_grid = {16, 16, 16};
  CHECK_THROWS_WITH(lower_text(addition("[64]"), grid, "bind a0 grid.x"),
                    ContainsSubstring("expected at most 16 workgroups on grid.x, got 64"));
  const LoweredKernel k = lower_text(addition("[1000000]"), grid, "", true);
  CHECK(k.grid[0].max() <= 16);
  grid.max_bindings = 2;
  CHECK_THROWS_WITH(lower_text(addition("[64]"), grid),
                    ContainsSubstring("expected at most 2 bindings"));
}

TEST_CASE("rows that fit the cache take their exponentials once") {
  const auto softmax = [](const std::string& shape, const std::string& row) {
    return "graph g(%x: f32" + shape + ") { %m = reduce.max %x, axes=[1] : f32" + row +
           " %me = expand %m : f32" + shape + " %d = sub %x, %me : f32" + shape +
           " %e = exp2 %d : f32" + shape + " %s = reduce.add %e, axes=[1] : f32" + row +
           " %se = expand %s : f32" + shape + " %y = fdiv %e, %se : f32" + shape + " return %y }";
  };
  const std::string row = softmax("[64, 256]", "[64, 1]");
  CHECK(count_of(program(lower_text(row, cpu_like())), " exp2 ") == 2);
  // One for each of the four copies of the lanes.
  CHECK(count_of(program(lower_text(row, cpu_like(), "", true)), " exp2 ") == 4);
  // A thread keeps its four elements of the row in registers.
  CHECK(count_of(program(lower_text(row, gpu_like(), "", true)), " exp2 ") == 4);
  const std::string warps =
      program(lower_text(softmax("[4096, 256]", "[4096, 1]"), warps_like(), "", true));
  CHECK(count_of(warps, " exp2 ") == 2);
  CHECK(count_of(warps, " subgroup_shuffle ") == 10);
  CHECK(count_of(warps, " barrier ") == 0);
  CHECK(count_of(warps, " load ") == 2);
  // 512 KiB of cache hold half of this row.
  const std::string long_row = softmax("[4, 262144]", "[4, 1]");
  CHECK(count_of(program(lower_text(long_row, cpu_like(), "", true)), " exp2 ") == 8);
}

TEST_CASE("threads exchange values only in rows of whole subgroups") {
  const std::string sums =
      "graph g(%x: f32[16, 64]) { %y = reduce.add %x, axes=[1] : f32[16, 1] return %y }";
  const auto text = [&](const std::string& threads) {
    return program(
        lower_text(sums, software_like(),
                   "split a0 8; bind a0.i block.y; bind a0.o grid.x; group r0 " + threads));
  };
  // 32 threads, four subgroups of eight, but each of two rows.
  CHECK(count_of(text("4"), " subgroup_shuffle ") == 0);
  CHECK(count_of(text("8"), " subgroup_shuffle ") == 3);
}

TEST_CASE("a load without a mask stays in a loop that may have no iteration") {
  const std::string text = program(
      lower_text("graph g(%x: u32[2, 1]) { %e = expand %x : u32[2, 2] return %e }", scalar_like(),
                 "fuse a0 a1; split a0_a1 128; split a0_a1.i 64; split a0_a1.i.i 2"));
  const size_t load = text.find("load");
  REQUIRE(load != std::string::npos);
  CHECK(count_of(text.substr(0, load), "= loop") == 3);
}
