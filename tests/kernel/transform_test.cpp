// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transform lists: text, what each does to a loop tree, what is refused.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/ir/text/text.hpp"
#include "core/kernel/transforms/transform.hpp"
#include "core/kernel/tree/build.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using Catch::Matchers::ContainsSubstring;

namespace {

Kernel kernel_of(const char* text, const std::vector<int>& alias = {}) {
  Builder builder;
  return build_kernel(parse_graph(text, builder), alias);
}

Kernel matmul() {
  return kernel_of(R"(graph g(%a: f32[24, 64], %b: f32[64, 48]) {
    %a3 = reshape %a : f32[24, 64, 1]
    %ae = expand %a3 : f32[24, 64, 48]
    %b3 = reshape %b : f32[1, 64, 48]
    %be = expand %b3 : f32[24, 64, 48]
    %p = mul %ae, %be : f32[24, 64, 48]
    %s = reduce.add %p, axes=[1] : f32[24, 1, 48]
    %y = reshape %s : f32[24, 48]
    return %y })");
}

std::string after(Kernel kernel, const char* list) {
  apply_transforms(kernel, parse_transforms(list));
  return print(kernel);
}

}  // namespace

TEST_CASE("transform lists round trip through text") {
  const std::string text =
      "split a0 12; fuse a0 a1; reorder a1.o a0.o r0; pad a0 16; unroll a0.i; vectorize a1.i; "
      "bind a0.o grid.x; group r0 8; stage b1 at a1.o; stage b0 at a0 pad 8; "
      "stage b1 at a0 inner r0; stage b1 at a0 pad 2 inner r0; stage b0.1 at a0; dot r0; "
      "online_softmax r0 4 at a0; online_softmax r0 4 at a0 inner r0; cache_reduction r0 "
      "a1; compute_at r0.i a0.o; scan r0 a1; tensorize "
      "a0 a1 r0 32; multi_buffer r0 2";
  CHECK(print(parse_transforms(text)) == text);
  CHECK(print(parse_transforms(" split  a0 12 ;;\n")) == "split a0 12");
  CHECK(parse_transforms("").empty());
}

TEST_CASE("malformed lists name the column and what was expected") {
  const std::pair<const char*, const char*> bad[] = {
      {"slice a0 2", "column 1: expected a transform, got \"slice\""},
      {"split a0", "column 9: expected a number from 1 to 2^30, got the end"},
      {"split a0 0", "expected a number from 1 to 2^30, got \"0\""},
      {"split a0 4 5", "column 12: expected ';' or the end, got \"5\""},
      {"bind a0 grid.w", "column 9: expected grid.x"},
      {"stage b0 a0", "expected \"at\", got \"a0\""},
      {"unroll a-b", "expected a name"},
      {"stage b0 at a0 wide",
       "expected \"pad\", \"inner\", \"computed\", \"lines\", ';' or the end, got \"wide\""},
      {"stage b0 at a0 pad 2 wide",
       "expected \"inner\", \"computed\", \"lines\", ';' or the end, got \"wide\""},
      {"stage b0 at a0 inner r0 wide",
       "expected \"computed\", \"lines\", ';' or the end, got \"wide\""},
      {"stage b0 at a0 lines x", "expected ';' or the end, got \"x\""},
  };
  for (const auto& [text, message] : bad)
    CHECK_THROWS_WITH(parse_transforms(text), ContainsSubstring(message));
}

TEST_CASE("what a message quotes is printable, and a list has an end") {
  const auto refused = [](std::string_view text) {
    try {
      parse_transforms(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused(std::string_view("split a0 8\0 junk\x1b", 17)).find("\"8\u2400\"") !=
        std::string::npos);
  CHECK(refused(std::string(39, 'x') + "\u00e9") ==
        "[transform] column 1: expected a transform, got \"" + std::string(39, 'x') + "...\"");
  std::string many;
  for (size_t i = 0; i < kMostTransforms; ++i) many += "unroll a0;";
  CHECK(parse_transforms(many).size() == kMostTransforms);
  CHECK(refused(many + "unroll a0").find("expected at most 256 transforms") != std::string::npos);
}

TEST_CASE("edges do not become all that there is") {
  const auto refused = [](const char* list) {
    Kernel kernel = matmul();
    for (const WrittenTransform& step : parse_transforms(list))
      if (const std::optional<Refusal> no = try_apply(kernel, step)) return no->message;
    return std::string();
  };
  CHECK(refused("pad a0 32; pad a1 64; pad r0 128") == "");
  CHECK(refused("pad a0 1048576") ==
        "[transform] pad a0 1048576: expected at most 2.15e+09 "
        "iterations, got 3.22e+09");
  CHECK_THAT(refused("split a0 1073741824"), ContainsSubstring("expected at most 2.15e+09"));
  // No step adds much, all of them do.
  CHECK_THAT(refused("pad a0 65536; split a0 1; pad a0.i 65536; fuse a0.o a0.i"),
             ContainsSubstring("[transform] pad a0"));
  // What the core itself refuses says of which transform.
  std::string name = "a0", list;
  for (int i = 0; i < 140; ++i) {
    list += "split " + name + " 1;";
    name += ".o";
  }
  CHECK_THAT(refused(list.c_str()), ContainsSubstring("[transform] split a0.o.o") &&
                                        ContainsSubstring("expected at most 256 axes"));
}

TEST_CASE("split guards a tail only where there is one") {
  CHECK_THAT(after(matmul(), "split a0 12"), !ContainsSubstring("real where"));
  CHECK_THAT(after(matmul(), "split a0 12"), ContainsSubstring("for a0.o in 2\n"));
  CHECK_THAT(after(matmul(), "split a0 7"), ContainsSubstring("real where a0.i + a0.o*7 < 24"));
  CHECK_THAT(after(matmul(), "pad r0 48"), ContainsSubstring("for r0 in 96"));
}

TEST_CASE("fuse leaves contiguous indices without division") {
  const Kernel k = kernel_of(R"(graph g(%x: f32[6, 8]) {
    %y = add %x, %x : f32[6, 8]
    return %y })");
  const std::string text = after(k, "fuse a0 a1");
  CHECK_THAT(text, ContainsSubstring("for a0_a1 in 48"));
  CHECK_THAT(text, ContainsSubstring("b1[a0_a1] = add(b0[a0_a1], b0[a0_a1])"));
}

TEST_CASE("stage packs the tile in the order of its source, lanes last") {
  const std::string text = after(
      matmul(), "split a1 16; vectorize a1.i; reorder a1.o a0; stage b1 at a1.o; stage b0 at a0");
  CHECK_THAT(text, ContainsSubstring("b1_tile: f32[1024] scratch"));
  CHECK_THAT(text, ContainsSubstring("b3[b1.c0*16 + b1.c1] = b1[a1.o*16 + b1.c0*48 + b1.c1]"));
  CHECK_THAT(text, ContainsSubstring("add mul(b4[r0], b3[a1.i + r0*16])"));
}

TEST_CASE("stage copies what one of several reads of a buffer takes") {
  const char* const graph = R"(graph g(%x: f32[3, 8, 4]) {
    %p = shrink %x, ranges=[(0,1),(0,8),(0,4)]
    %q = shrink %x, ranges=[(2,3),(0,8),(0,4)]
    %y = mul %p, %q
    return %y })";
  const auto refused = [&](const char* list) {
    Kernel kernel = kernel_of(graph);
    const std::optional<Refusal> no = try_apply(kernel, parse_transforms(list)[0]);
    return no ? no->message : "";
  };
  CHECK(
      refused("stage b0 at a0").find("expected one way to read it, or b0.0 to b0.1, got several") !=
      std::string::npos);
  CHECK(refused("stage b0.2 at a0").find("expected one of 2 ways to read it inside a0, got 2") !=
        std::string::npos);
  CHECK_THROWS_WITH(parse_transforms("stage b0.x at a0"),
                    ContainsSubstring("expected a buffer, as b0 or b0.1"));
  CHECK(refused("stage b0.0 at a0") == "");
  const std::string second = after(kernel_of(graph), "stage b0.1 at a0");
  INFO(second);
  CHECK(second.find("b0[a0*4 + a1 + 64]") == std::string::npos);
  CHECK(second.find("mul(b0[a0*4 + a1], b2[a1])") != std::string::npos);
  // The copy reads it, too, and stands first.
  const std::string both = after(kernel_of(graph), "stage b0.1 at a0; stage b0.1 at a0");
  CHECK(both.find("mul(b3[a1], b2[a1])") != std::string::npos);
}

TEST_CASE("stage can leave room after the rows of the source") {
  const std::string text = after(matmul(), "split r0 16; stage b0 at r0.o pad 3");
  CHECK_THAT(text, ContainsSubstring("b0_tile: f32[16] scratch"));
  const std::string rows =
      after(matmul(), "split a0 8; unroll a0.i; split r0 16; stage b0 at r0.o pad 3");
  CHECK_THAT(rows, ContainsSubstring("b0_tile: f32[152] scratch"));
  CHECK_THAT(rows, ContainsSubstring("b3[b0.c0*19 + b0.c1] = b0["));
}

TEST_CASE("threads share the copy of a tile, each with its own part") {
  const std::string text =
      after(matmul(),
            "split a0 8; bind a0.i block.y; split a1 8; bind a1.i block.x; "
            "split r0 16; stage b0 at r0.o; split b0.c1 8; bind b0.c0 block.y; "
            "bind b0.c1.i block.x");
  CHECK_THAT(text, ContainsSubstring("b0_tile: f32[128] shared"));
  CHECK_THROWS_WITH(after(matmul(),
                          "split a0 8; bind a0.i block.y; split r0 16; stage b0 at r0.o; bind "
                          "b0.c1 block.y"),
                    ContainsSubstring("expected the extent of a0.i, 8, got 16"));
}

TEST_CASE("illegal transforms are refused with what was expected") {
  const std::pair<const char*, const char*> bad[] = {
      {"split a9 4", "[transform] split a9 4: expected an axis of the kernel (a0 a1 r0), got a9"},
      {"split a0 4; split a0 2", "got a0"},
      {"fuse a0 r0", "expected r0 directly inside a0, got another nesting"},
      {"reorder a0 r0", "expected loops nested directly, got other statements inside a1"},
      {"reorder a0 a0", "expected different axes, got a0 twice"},
      {"unroll r0; unroll r0", "expected r0 not to be bound yet, got unroll"},
      {"unroll a0; split a0 2", "expected a0 not to be bound yet"},
      {"vectorize a0", "expected an extent that is a power of two, got 24"},
      {"split a1 16; split r0 8; vectorize a1.i; vectorize r0.i", "expected one vector axis"},
      {"bind r0 grid.x", "expected a parallel axis (group binds reduce axes), got r0"},
      {"group a0 4", "expected a reduce axis, got a0"},
      {"bind a0 grid.x; bind a1 grid.x", "expected nothing else on grid.x above or below"},
      {"bind a0 block.x; bind a1 block.x", "on block.x"},
      {"stage b2 at a0", "expected an input that the kernel does not write, got b2"},
      {"stage b7 at a0", "expected a buffer b0 to b2, got b7"},
      {"stage b0 at a0; unroll r0", ""},
      {"stage b1 at a1; split a0 2; unroll a0.i", ""},
      {"split a1 4; stage b1 at a1.i; unroll a1.o", "expected unroll and vectorize before stage"},
  };
  for (const auto& [list, message] : bad) {
    INFO(list);
    if (*message)
      CHECK_THROWS_WITH(after(matmul(), list), ContainsSubstring(message));
    else
      CHECK_NOTHROW(after(matmul(), list));
  }
}

TEST_CASE("a scatter keeps the order of its axis") {
  const Kernel k = kernel_of(R"(graph g(%x: i32[5, 8], %i: i32[5, 6], %v: i32[5, 6]) {
    %t = store %x, %i, %v, axis=1 : i32[5, 8]
    return %t })",
                             {0});
  CHECK_THAT(print(k), ContainsSubstring("for ordered a1 in 6"));
  CHECK_THROWS_WITH(after(k, "unroll a1"), ContainsSubstring("whose iterations have an order"));
  CHECK_THROWS_WITH(after(k, "bind a1 grid.x"), ContainsSubstring("expected a parallel axis"));
  CHECK_THROWS_WITH(after(k, "split a1 2; reorder a1.i a1.o"),
                    ContainsSubstring("to keep it, got another order"));
  CHECK_NOTHROW(after(k, "unroll a0; split a1 2"));
}

TEST_CASE("an in-place kernel is spread only where iterations stay apart") {
  const Kernel k = kernel_of(R"(graph g(%x: f32[6, 8]) {
    %m = reduce.max %x, axes=[1] : f32[6, 1]
    %e = expand %m : f32[6, 8]
    %y = add %x, %e : f32[6, 8]
    return %y })",
                             {0});
  CHECK_NOTHROW(after(k, "bind a0 grid.x"));
  CHECK_THROWS_WITH(after(k, "bind a1 grid.x"), ContainsSubstring("only what they write in place"));
}

namespace {
Kernel softmax() {
  return kernel_of(R"(graph g(%x: f32[6, 32]) {
    %m = reduce.max %x, axes=[1] : f32[6, 1]
    %me = expand %m : f32[6, 32]
    %d = sub %x, %me : f32[6, 32]
    %e = exp %d : f32[6, 32]
    %s = reduce.add %e, axes=[1] : f32[6, 1]
    %se = expand %s : f32[6, 32]
    %y = fdiv %e, %se : f32[6, 32]
    return %y })");
}
}  // namespace

TEST_CASE("cache_reduction stores what a reduction computes and loads it in a later loop") {
  const std::string text = after(softmax(), "cache_reduction r1 a1; split r1 16; vectorize r1.i");
  CHECK_THAT(text, ContainsSubstring("kept2: f32[32] scratch"));
  CHECK_THAT(text,
             ContainsSubstring("b2[r1.i + r1.o*16] = exp(sub(b0[a0*32 + r1.i + r1.o*16], s0.0))"));
  CHECK_THAT(text, ContainsSubstring("b1[a0*32 + a1] = fdiv(b2[a1], s1.0)"));
}

TEST_CASE("cache_reduction is refused where a thread or a copy would miss its values") {
  const std::pair<const char*, const char*> bad[] = {
      {"cache_reduction a1 r1", "expected the only axis of a reduction, got a1"},
      {"cache_reduction r1 r0", "expected r0 after the reduction over r1, got another place"},
      {"cache_reduction r0 a1", "expected an op that the steps over r0 compute too, got none"},
      {"cache_reduction r1 a0", "expected a0 after the reduction over r1, got another place"},
      {"split r1 16; cache_reduction r1.i a1", "expected the only axis of a reduction, got r1.i"},
      {"split a1 16; cache_reduction r1 a1.i", "expected axes of one extent, got 32 and 16"},
      {"pad r1 5; pad a1 5; cache_reduction r1 a1",
       "expected a reduce axis without padding, got r1"},
      {"unroll a0; cache_reduction r1 a1",
       "expected cache_reduction before the loops around are unrolled, got a0"},
      {"cache_reduction r1 a1; unroll a0",
       "expected a loop without materialised values that depend on it, got a0"},
      {"cache_reduction r1 a1; group r1 8",
       "expected a reduction that caches no values in scratch of a thread, got r1"},
      {"cache_reduction r1 a1; stage b2 at a0",
       "expected an input that the kernel does not write, got b2"},
      {"cache_reduction r1 a1; bind a1 block.x; split a0 2; bind a0.o grid.x", ""},
  };
  for (const auto& [list, message] : bad) {
    INFO(list);
    if (*message)
      CHECK_THROWS_WITH(after(softmax(), list), ContainsSubstring(message));
    else
      CHECK_NOTHROW(after(softmax(), list));
  }
}

TEST_CASE("compute_at merges partial sums into a tile, and what follows takes them from there") {
  const std::string text =
      after(matmul(),
            "split a0 8; split a1 16; split r0 16; reorder a0.o a1.o a0.i a1.i; "
            "unroll a0.i; vectorize a1.i; compute_at r0.i a1.o");
  CHECK_THAT(text, ContainsSubstring("sums3: f32[128] scratch"));
  CHECK_THAT(text, ContainsSubstring(R"(
    for a1.o in 3
      for a0.i.z in 8
        for a1.i.z in 16 @vector
          b3[a0.i.z*16 + a1.i.z] = 0.0
      for ordered r0.o in 4
        for a0.i in 8 @unroll
          for a1.i in 16 @vector
            s0.0: f32 = add mul(b0[a0.i*64 + a0.o*512 + r0.i + r0.o*16], b1[a1.i + a1.o*16 + r0.i*48 + r0.o*768])
              for r0.i in 16
                step
            b3[a0.i*16 + a1.i] = add(b3[a0.i*16 + a1.i], s0.0)
      for a0.i.c in 8
        for a1.i.c in 16 @vector
          b2[)"));
}

TEST_CASE("compute_at without a reduce loop around its own leaves the epilogue in a loop") {
  const std::string text = after(matmul(), "split a0 7; unroll a0.i; compute_at r0 a0.o");
  CHECK_THAT(text, ContainsSubstring("sums3: f32[336] scratch"));
  CHECK_THAT(text, !ContainsSubstring(".z"));
  CHECK_THAT(text, ContainsSubstring("b3[a0.i*48 + a1] = s0.0"));
  CHECK_THAT(text, ContainsSubstring("real where a0.i.c + a0.o*7 < 24"));
  CHECK_THAT(text, ContainsSubstring("b2[a0.i.c*48 + a0.o*336 + a1.c] = b3[a0.i.c*48 + a1.c]"));
}

TEST_CASE("compute_at moves copies that the loops inside share") {
  const std::string text = after(
      matmul(), "split r0 16; reorder a1 a0; unroll a0; stage b1 at r0.o; compute_at r0.i a1");
  CHECK_THAT(text, ContainsSubstring(R"(
    for ordered r0.o in 4
      stage b3
        for b1.c0 in 16
          b3[b1.c0] = b1[a1 + b1.c0*48 + r0.o*768]
      for a0 in 24 @unroll)"));
}

TEST_CASE("compute_at keeps a tile for each state") {
  const Kernel k = kernel_of(R"(graph g(%x: i32[6, 30]) {
    %s = reduce.add %x, axes=[1] : i32[6, 1]
    %m = reduce.max %x, axes=[1] : i32[6, 1]
    %y = sub %m, %s : i32[6, 1]
    return %y })");
  const std::string text = after(k, "split a0 2; split r0 8; compute_at r0.i a0.o");
  CHECK_THAT(text, ContainsSubstring("b2[a0.i.z] = -2147483648"));
  CHECK_THAT(text, ContainsSubstring("b3[a0.i.z] = 0"));
  CHECK_THAT(text, ContainsSubstring("b2[a0.i] = max(b2[a0.i], s0.0)"));
  CHECK_THAT(text, ContainsSubstring("b3[a0.i] = add(b3[a0.i], s0.1)"));
  CHECK_THAT(text, ContainsSubstring("b1[a0.i.c + a0.o*2] = sub(b2[a0.i.c], b3[a0.i.c])"));
}

TEST_CASE("compute_at defines again what the data says of a position") {
  const Kernel k = kernel_of(R"(graph g(%x: f32[9, 8], %i: i32[6], %w: f32[9]) {
    %s = reduce.add %x, axes=[1] : f32[9, 1]
    %r = reshape %s : f32[9]
    %t = take %r, %i, axis=0 : f32[6]
    %u = take %w, %i, axis=0 : f32[6]
    %y = add %t, %u : f32[6]
    return %y })");
  const std::string text = after(k, "split a0 3; compute_at r0 a0.o");
  CHECK_THAT(text, ContainsSubstring("b4[a0.i.c], 0.0), b2[t1.c where t1.in.c])"));
}

TEST_CASE("compute_at is refused where sums or copies would be missed") {
  const std::pair<const char*, const char*> bad[] = {
      {"compute_at a0 a1", "expected a reduce axis, got a0"},
      {"split r0 8; compute_at r0.i a0; compute_at r0.i a1.c",
       "expected a1.c around the reduction over r0.i"},
      {"split r0 8; unroll r0.o; compute_at r0.i a0",
       "expected reduce loops that are not bound around r0.i, got r0.o"},
      {"compute_at r0 a1", "expected loops inside a1 or reduce loops around r0, got neither"},
      {"unroll a0; compute_at r0 a0",
       "expected compute_at before the loops around a0 are unrolled, got a0"},
      {"split a1 99; split a1.o 4; vectorize a1.o.i; compute_at r0 a1.o.o",
       "expected lanes that the sum depends on, got a1.o.i"},
      {"bind a1 grid.x; compute_at r0 a0",
       "expected no axis of the launch inside a0, got a1 on grid.x"},
      {"bind a1 block.x; compute_at r0 a0",
       "expected no axis of the launch inside a0, got a1 on block.x"},
      {"compute_at r0 a0; bind a1 block.x",
       "expected a loop that fills no scratch of a thread for later loops, got a1"},
      {"split r0 8; compute_at r0.i a0; bind a1.z block.x",
       "expected a loop that fills no scratch"},
      {"split r0 8; compute_at r0.i a0; bind r0.o grid.x", "expected a parallel axis"},
      {"split r0 8; compute_at r0.i a0; unroll r0.o", "whose iterations have an order"},
      {"split r0 8; compute_at r0.i a1; unroll a0",
       "expected a loop without materialised values that depend on it, got a0"},
      {"split r0 8; stage b1 at r0.o; compute_at r0.i a0",
       "a copy that is the same in all of the loops inside a0"},
      {"split r0 8; stage b0 at r0.o; compute_at r0.i a0", ""},
      {"compute_at r0 a0; bind a1.c block.x; bind a0 grid.x; vectorize r0", ""},
  };
  for (const auto& [list, message] : bad) {
    INFO(list);
    if (*message)
      CHECK_THROWS_WITH(after(matmul(), list), ContainsSubstring(message));
    else
      CHECK_NOTHROW(after(matmul(), list));
  }
}
