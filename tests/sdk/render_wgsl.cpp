// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of programs printed as WGSL. What its helpers compute is tested with GLSL's, which are
// made of them; that an implementation takes the text is for the WGSL plugin's tests.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <regex>
#include <sstream>

#include "sdk/program/op_info.hpp"
#include "sdk/render/dialect_ops.hpp"
#include "sdk/render/wgsl_dialect.hpp"
#include "tests/sdk/null_device.hpp"
#include "tests/sdk/samples.hpp"

using namespace tenon::sdk;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string wgsl(std::string_view text) { return print_wgsl(parsed(text).view()); }

/// What the core makes of a store of f16 where memory is declared in words.
constexpr std::string_view kPacked =
    R"(program packed(%x: global f32 read noalias, %w: global u32 read write, %flag: bool) workgroup 64 1 1 {
  %3 = index block.x : i32
  %4 = load %x, %3 : f32
  %5 = cast %4 : f16
  %6 = cast.bits %5 : u16
  %7 = cast %6 : u32
  %8 = const 1 : i32
  %9 = shr %3, %8 : i32
  %10 = load %w, %9 : u32
  %11 = sub %7, %10 : u32
  %12 = where %flag, %11, %7 : u32
  %13 = atomic.add.block %w, %9, %12 : u32
  %14 = atomic.compare_exchange.block %w, %3, %13, %12 : u32
  barrier block
  store %w, %3, %14
}
)";

}  // namespace

TEST_CASE("WGSL's text") {
  for (const auto& [name, text] :
       {std::pair("softmax", samples::kSoftmax), std::pair("vectors", samples::kVectors),
        std::pair("packed", kPacked), std::pair("subgroups", samples::kSubgroup)}) {
    std::ifstream file(std::string(TENON_SOURCE_DIR) + "/tests/golden/render/" + name + ".wgsl");
    std::stringstream golden;
    golden << file.rdbuf();
    CHECK(wgsl(text) == golden.str());
  }
}

TEST_CASE("the functions that a claimed op calls in WGSL are there") {
  static const std::regex kCall(R"(\btn_\w+\()");
  for (const tn_dtype dtype : {TN_DTYPE_F32, TN_DTYPE_I32, TN_DTYPE_U32})
    for (const tn_opcode op : kWgslOps) {
      const OpInfo& row = *op_info(op);
      if (!takes(row.types, static_cast<uint8_t>(dtype))) continue;
      ProgramBuilder b("one");
      const auto x = b.buffer("x", dtype, TN_ACCESS_READ),
                 y = b.buffer("y", dtype, TN_ACCESS_WRITE);
      const auto at = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
      const std::vector<ProgramBuilder::Value> operands(static_cast<size_t>(row.arity),
                                                        b.op(TN_OP_TAKE, dtype, 1, {x, at}));
      const bool compares = row.kind == OpKind::COMPARE;
      auto value = b.op(op, compares ? TN_DTYPE_BOOL : dtype, 1, operands);
      if (compares) value = b.op(TN_OP_CAST, dtype, 1, {value});
      b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {y, at, value});
      const std::string text = print_wgsl(b.finish().view());
      const size_t kernel = text.find("@compute");
      for (std::sregex_iterator
               call(text.begin() + static_cast<ptrdiff_t>(kernel), text.end(), kCall),
           end;
           call != end; ++call) {
        INFO(row.text << " of " << dtype_text(static_cast<uint8_t>(dtype)) << ":\n" << text);
        CHECK(text.find("fn " + call->str()) < kernel);
      }
    }
}

TEST_CASE("an op that WGSL does not list is refused") {
  CHECK_THROWS_WITH(wgsl(R"(program fused(%x: global f32 read write) workgroup 1 1 1 {
  %1 = const 0 : i32
  %2 = load %x, %1 : f32
  %3 = fma %2, %2, %2 : f32
  store %x, %1, %3
}
)"),
                    "wgsl: has no words for fma");
}

TEST_CASE("sums that a compiler could join are kept apart") {
  const std::string text = wgsl(
      R"(program apart(%x: global f32 read, %y: global f32 write) workgroup 1 1 1 {
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = load %x, %2 : f32
  %5 = load %x, %3 : f32
  %6 = sub %4, %5 : f32
  %7 = sub %6, %4 : f32
  store %y, %2, %7
}
)");
  CHECK_THAT(text, ContainsSubstring("let v6: f32 = tn_exact(v4 - v5);"));
  CHECK_THAT(text, ContainsSubstring("let v7: f32 = v6 - v4;"));
}

TEST_CASE("constants that WGSL does not take as such") {
  const std::string text = wgsl(
      R"(program odd(%x: global f32 write, %i: global i32 write) workgroup 1 1 1 {
  %2 = const 0 : i32
  %3 = const -inf : f32
  store %x, %2, %3
  %5 = const -0.0 : f32
  store %x, %2, %5
  %7 = const -2147483648 : i32
  %8 = const 2147483647 : i32
  %9 = add %7, %8 : i32
  store %i, %2, %9
}
)");
  CHECK_THAT(text, ContainsSubstring("p_x[0] = bitcast<f32>(tn_opaque(0xff800000u));"));
  CHECK_THAT(text, ContainsSubstring("p_x[0] = bitcast<f32>(0x80000000u);"));
  CHECK_THAT(text, ContainsSubstring("let c9_7: i32 = i32(-2147483648);"));
  CHECK_THAT(text, ContainsSubstring("let v9: i32 = c9_7 + c9_8;"));
}

TEST_CASE("bounds of loops below zero are printed as their bits") {
  // WGSL converts no negative literal to u32.
  const std::string text = wgsl(
      R"(program bounds(%y: global i32 write) workgroup 1 1 1 {
  %1 = const -20 : i32
  %2 = const -8 : i32
  %3 = const 3 : i32
  %4 = loop %1, %2, %3 : i32 {
    store %y, %3, %4
  }
}
)");
  CHECK_THAT(text, ContainsSubstring("if (4294967288u - u32("));
  CHECK_THAT(text, !ContainsSubstring("u32((-"));
}

TEST_CASE("constant indices outside, which masks keep from memory, are not printed") {
  const std::string text = wgsl(
      R"(program outside(%x: global f32 read, %y: global f32 write) workgroup 1 1 1 {
  %mine = param register f32[4]
  %3 = const -1 : i32
  %4 = const 4 : i32
  %5 = index grid.x : i32
  %6 = cmplt %5, %3 : bool
  %7 = load %x, %3, %6 : f32
  store %mine, %4, %7, %6
  %9 = load %x, %4 : f32
  store %y, %5, %9
}
)");
  CHECK_THAT(text, ContainsSubstring("v7 = p_x[0];"));
  CHECK_THAT(text, ContainsSubstring("p_mine[0] = v7;"));
  CHECK_THAT(text, ContainsSubstring("v9: f32 = p_x[4];"));
}

TEST_CASE("what WGSL has no words for is refused") {
  CHECK_THROWS_WITH(wgsl(samples::kControl),
                    "wgsl: expected a dtype that the language has, got i64");
  CHECK_THROWS_WITH(wgsl(samples::kShared),
                    "wgsl: param x: expected memory in 32-bit words, got u8");
  std::string rows(samples::kSubgroup);
  rows.replace(rows.find("workgroup 64 1"), 14, "workgroup 16 4");
  CHECK_THROWS_WITH(wgsl(rows), "wgsl: expected rows of whole subgroups of 32 threads, got 16");
}
