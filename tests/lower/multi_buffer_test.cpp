// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Multi-buffered tiles: the same results, one barrier an iteration, each copy waited
// for.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/kernel/transforms/transform.hpp"
#include "core/kernel/tree/build.hpp"
#include "sdk/program/text.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

Case pipeline_product(const std::string& m, const std::string& k, const std::string& n,
                      std::map<std::string, int64_t> sizes = {}, const std::string& dtype = "f32") {
  const auto s = [&](const std::string& dims) { return dtype + "[" + dims + "]"; };
  std::string where;
  for (const auto& [name, size] : sizes)
    where += (where.empty() ? "" : ", ") + ("1 <= " + name) + " <= 99";
  return {"graph g(%a: " + s(m + ", " + k) + ", %b: " + s(k + ", " + n) + ")" +
              (where.empty() ? "" : " where " + where) + " { %a3 = reshape %a : " +
              s(m + ", " + k + ", 1") + " %ae = expand %a3 : " + s(m + ", " + k + ", " + n) +
              " %b3 = reshape %b : " + s("1, " + k + ", " + n) + " %be = expand %b3 : " +
              s(m + ", " + k + ", " + n) + " %p = mul %ae, %be : " + s(m + ", " + k + ", " + n) +
              " %s = reduce.add %p, axes=[1] : " + s(m + ", 1, " + n) + " return %s }",
          std::move(sizes),
          {}};
}

constexpr const char* kStaged =
    "split a0 8; split a1 8; split r0 4; reorder a0.o a1.o a0.i a1.i; bind a0.o grid.y; bind a1.o "
    "grid.x; bind a0.i block.y; bind a1.i block.x; stage b0 at r0.o; stage b1 at r0.o pad 4; ";

std::string lowered_list(const Case& c, const Capabilities& device, const std::string& list) {
  Builder builder;
  return sdk::print_program(
      lower(parse_graph(c.graph, builder), device, list, false).program.view());
}

}  // namespace

TEST_CASE("tiles that are filled ahead give the same result, whatever the number of blocks") {
  const Case cases[] = {pipeline_product("16", "64", "24"),
                        pipeline_product("13", "30", "9"),
                        pipeline_product("8", "4", "8"),
                        pipeline_product("9", "3", "10"),
                        pipeline_product("8", "8", "8"),
                        pipeline_product("m", "k", "n", {{"m", 17}, {"k", 45}, {"n", 9}}),
                        pipeline_product("8", "k", "8", {{"k", 3}}),
                        pipeline_product("16", "24", "16", {}, "f64"),
                        pipeline_product("16", "24", "16", {}, "i16"),
                        pipeline_product("16", "24", "16", {}, "i64")};
  for (const Case& c : cases)
    for (const char* stages : {"2", "3", "4", "8"})
      for (const Capabilities& device : {warps_like(), gpu_like(), web_like()}) {
        if (device.storage_bytes > 1 && c.graph.find("f32") == std::string::npos) continue;
        INFO(c.graph << " " << stages);
        CHECK(difference(c, device, std::string(kStaged) + "multi_buffer r0.o " + stages, false) ==
              "");
      }
}

TEST_CASE("a loop around multi-buffered copies begins them again, and each of its tiles") {
  // The rows of a workgroup are taken in two rounds.
  const std::string list =
      "split a0 8; split a1 8; split r0 4; split a0.o 2; reorder a0.o.o a1.o a0.o.i a0.i a1.i; "
      "bind "
      "a0.o.o grid.y; bind a1.o grid.x; bind a0.i block.y; bind a1.i block.x; stage b0 at r0.o; "
      "stage b1 at r0.o; multi_buffer r0.o 3";
  CHECK(difference(pipeline_product("32", "40", "16"), warps_like(), list, false) == "");
  CHECK(difference(pipeline_product("30", "33", "11"), gpu_like(), list, false) == "");
}

TEST_CASE("a multi-buffered loop has one barrier an iteration and waits for its own copies alone") {
  const Case c = pipeline_product("16", "64", "24");
  const std::string plain = lowered_list(c, warps_like(), kStaged);
  CHECK(count_of(plain, "barrier block") == 2);
  CHECK(count_of(plain, "async") == 0);
  const std::string text =
      lowered_list(c, warps_like(), std::string(kStaged) + "multi_buffer r0.o 4");
  CHECK(count_of(text, "async_wait 2") == 1);
  CHECK(count_of(text, "async_commit") == 4);
  CHECK(count_of(text, "async_copy.4") == 8);
  CHECK(count_of(text, "barrier block") == 2);
  const size_t loop = text.find("loop"), wait = text.find("async_wait");
  REQUIRE(loop != std::string::npos);
  CHECK(count_of(text.substr(loop), "barrier block") == 1);
  CHECK(text.find("async_copy", wait) < text.find("mul", text.find("async_copy", wait)));
  // Without such copies the same is done by loads and stores.
  const std::string other =
      lowered_list(c, gpu_like(), std::string(kStaged) + "multi_buffer r0.o 4");
  CHECK(count_of(other, "async") == 0);
  CHECK(count_of(other.substr(other.find("loop")), "barrier block") == 1);
}

TEST_CASE("a tile that is filled inside of a copy that runs ahead is filled at once") {
  std::string list = kStaged;
  list += "stage b0 at b0.c0; multi_buffer r0.o 3";
  CHECK(difference(pipeline_product("16", "64", "24"), warps_like(), list, false) == "");
  const std::string twice = std::string(kStaged) + "stage b0 at r0.o";
  const std::string text = lowered_list(pipeline_product("16", "64", "24"), warps_like(), twice);
  // Between a tile and the one that is copied from it is a barrier too.
  CHECK(count_of(text, "barrier block") == 3);
}

TEST_CASE("multi_buffer is refused with what was expected") {
  const std::pair<std::string, const char*> bad[] = {
      {"multi_buffer r0 2", "multi_buffer r0 2: expected a shared tile that r0 fills, got none"},
      {"split r0 4; stage b0 at r0.o; multi_buffer r0.o 2", "expected a shared tile"},
      {std::string(kStaged) + "stage b0 at r0.o; multi_buffer r0.o 2",
       "expected copies of data from before the loop"},
      {std::string(kStaged) + "multi_buffer r0.o 1", "expected 2 to 8 stages, got 1"},
      {std::string(kStaged) + "multi_buffer r0.o 9", "expected 2 to 8 stages, got 9"},
      {std::string(kStaged) + "multi_buffer r0.o 2; multi_buffer r0.o 2",
       "not to be multi-buffered yet"},
      {std::string(kStaged) + "multi_buffer r0.o 2; split r0.o 2", "not to be multi-buffered yet"},
      {std::string(kStaged) + "multi_buffer r0.o 2; unroll r0.o", "not to be multi-buffered yet"},
      {std::string(kStaged) + "multi_buffer r0.o 2; compute_at r0.o a0.o",
       "this before multi_buffer"},
      {std::string(kStaged) + "multi_buffer r0.o 2; stage b0 at r0.o", "this before multi_buffer"},
      {std::string(kStaged) + "multi_buffer r0.o 2; reorder a1.o a0.o", "this before multi_buffer"},
  };
  for (const auto& [list, message] : bad) {
    INFO(list);
    Builder builder;
    Kernel kernel = build_kernel(parse_graph(pipeline_product("16", "64", "24").graph, builder));
    CHECK_THROWS_WITH(apply_transforms(kernel, parse_transforms(list)), ContainsSubstring(message));
  }
}
