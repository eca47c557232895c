// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs printed as GLSL do what the scalar oracle and the null backend do. That drivers take
// the text is for the Vulkan plugin's tests.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <numeric>
#include <sstream>

#include "sdk/render/dialect_ops.hpp"
#include "sdk/render/glsl_dialect.hpp"
#include "sdk/render/scalar_layout.hpp"
#include "tests/sdk/op_cases.hpp"
#include "tests/sdk/samples.hpp"
#include "tests/sdk/shader_kernels.hpp"

using namespace tenon::sdk;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string glsl(std::string_view text, const GlslOptions& options = {}) {
  return print_glsl(parsed(text).view(), options);
}

}  // namespace

TEST_CASE("every elementwise op and cast as GLSL") {
  ShaderKernels kernels;
  std::vector<OpCase> cases;
  for (const tn_dtype dtype : tested_dtypes()) {
    cases.push_back(elementwise_case(dtype, kGlslOps));
    cases.push_back(cast_case(dtype));
  }
  for (const OpCase& c : cases) kernels.add(c.program);
  kernels.build();
  for (size_t k = 0; k < cases.size(); ++k) {
    kernels.run(k, {cases[k].count, 1, 1}, cases[k].arguments());
    for (const std::string& difference : cases[k].differences(cases[k])) FAIL_CHECK(difference);
  }
}

TEST_CASE("vectors, loops and branches as GLSL agree with the interpreter") {
  NullDevice host;
  std::vector<float> x(64);
  std::iota(x.begin(), x.end(), -5.f);
  Bytes in = bytes_of(x), wide = bytes_of(std::vector<int64_t>{10}),
        index = bytes_of(std::vector<int>{63, 1, 20, 3, 9, 1000, -1, 99});
  const Program programs[] = {parsed(samples::kVectors), parsed(samples::kControl)};
  ShaderKernels kernels;
  for (const Program& program : programs) kernels.add(program);
  kernels.build();
  for (size_t k = 0; k < 2; ++k) {
    Bytes ours(16 * 8, 1), theirs = ours;
    const auto arguments = [&](Bytes& out) {
      return k ? std::vector<TestArgument>{{&wide}, {&out}, {{}, 9}}
               : std::vector<TestArgument>{{&in}, {&index}, {&out}};
    };
    kernels.run(k, {1, 1, 1}, arguments(ours));
    host.run(programs[k], {1, 1, 1}, arguments(theirs));
    CHECK(ours == theirs);
  }
}

TEST_CASE("scalars of every size as push constants") {
  const Program program = parsed(
      R"(program scalars(%y: global i64 write, %a: i8 in [-9, 9], %b: bool, %c: u64 in [0, 9], %d: f16, %e: i32 in [-9, 9]) workgroup 1 1 1 {
  %6 = const 0 : i32
  %7 = cast %a : i64
  store %y, %6, %7
  %9 = const 1 : i32
  %10 = cast %b : i64
  store %y, %9, %10
  %12 = const 2 : i32
  %13 = cast %c : i64
  store %y, %12, %13
  %15 = const 3 : i32
  %16 = cast %d : i64
  store %y, %15, %16
  %18 = const 4 : i32
  %19 = cast %e : i64
  store %y, %18, %19
}
)");
  const ScalarLayout layout = scalar_layout(program.view());
  CHECK(layout.offsets == std::vector<uint32_t>{0, 0, 4, 8, 16, 20});
  CHECK(layout.bytes == 32);
  CHECK(buffer_count(program.view()) == 1);
  ShaderKernels kernels;
  kernels.add(program);
  kernels.build();
  Bytes out(5 * 8);
  const std::vector<TestArgument> arguments = {{&out},  {{}, 0xfb},   {{}, 1},
                                               {{}, 7}, {{}, 0x4900}, {{}, 0xfffffffd}};
  kernels.run(0, {1, 1, 1}, arguments);
  CHECK(values_of<int64_t>(out) == std::vector<int64_t>{-5, 1, 7, 10, -3});
  CHECK_THAT(print_glsl(program.view()), ContainsSubstring("layout(offset = 8) uint64_t p_c;"));
}

TEST_CASE("a program asks for the extensions that it uses, and for the modes it is told") {
  CHECK(glsl(samples::kSoftmax).find("#extension") == std::string::npos);
  CHECK_THAT(glsl(samples::kControl), ContainsSubstring("explicit_arithmetic_types_int64"));
  const std::string shared = glsl(samples::kShared);
  CHECK_THAT(shared, ContainsSubstring("GL_EXT_shader_8bit_storage"));
  CHECK_THAT(shared, ContainsSubstring("explicit_arithmetic_types_int8"));
  CHECK_THAT(glsl(samples::kSubgroup), ContainsSubstring("GL_KHR_shader_subgroup_shuffle"));
  const std::string modes = glsl(samples::kSoftmax, {.preserves_specials = {.f32 = true}});
  CHECK_THAT(modes, ContainsSubstring("#extension GL_EXT_spirv_intrinsics : require"));
  CHECK_THAT(modes, ContainsSubstring("capabilities = [4466], 4461, 32);"));
  const std::string native = glsl(samples::kSoftmax, {.math = {.native_exp = true}});
  CHECK_THAT(native, ContainsSubstring("= exp2("));
}

TEST_CASE("subgroup ops on vectors are done lane by lane") {
  const std::string text = glsl(
      R"(program lanes(%x: global f32 read, %y: global f32 write) workgroup 8 1 1 subgroup 8 {
  %2 = index block.x : i32
  %3 = load %x, %2 : f32x2
  %4 = subgroup_shuffle %3, %2 : f32x2
  %5 = subgroup_broadcast %4, 3 : f32x2
  store %y, %2, %5
}
)");
  for (const char* part : {"v4[0] = subgroupShuffle(v3[0], uint(v2));", "subgroupShuffle(v3[1],",
                           "v5[1] = subgroupBroadcast(v4[1], 3u);"})
    CHECK_THAT(text, ContainsSubstring(part));
}

TEST_CASE("buffers that threads exchange values in are coherent") {
  const std::string_view text =
      R"(program exchange(%x: global f32 read write, %y: global f32 write) workgroup 2 1 1 {
  %2 = index block.x : i32
  %3 = load %x, %2 : f32
  store %x, %2, %3
  barrier block
  store %y, %2, %3
}
)";
  CHECK_THAT(glsl(text), ContainsSubstring("coherent buffer Buffer0"));
  CHECK_THAT(glsl(text), ContainsSubstring("  memoryBarrierBuffer();\n  barrier();\n"));
  CHECK_THAT(glsl(samples::kShared), !ContainsSubstring("coherent"));
}

TEST_CASE("a choice hides its zeros") {
  const auto choice = [](std::string_view one, std::string_view zero, std::string_view dtype) {
    return glsl(fmt::format(
        R"(program choice(%x: global i32 read, %y: global {2} write) workgroup 1 1 1 {{
  %2 = const 0 : i32
  %3 = load %x, %2 : i32
  %4 = cmpne %3, %2 : bool
  %5 = const {0} : {2}
  %6 = const {1} : {2}
  %7 = where %4, %6, %5 : {2}
  store %y, %2, %7
}}
)",
        one, zero, dtype));
  };
  CHECK_THAT(choice("-1.0", "0.0", "f32"),
             ContainsSubstring("v4 ? uintBitsToFloat(tn_opaque(0x0u)) : (-1.0)"));
  CHECK_THAT(choice("1.0", "-0.0", "f64"),
             ContainsSubstring("uint64BitsToDouble(uint64_t(tn_opaque(0x80000000u)) << 32u)"));
  CHECK_THAT(choice("-1.0", "2.0", "f32"), !ContainsSubstring("tn_opaque"));
}

TEST_CASE("a product with a constant zero keeps its sign") {
  const std::string text = glsl(
      R"(program zero(%x: global f32 read, %y: global f32 write) workgroup 1 1 1 {
  %2 = const 0 : i32
  %3 = load %x, %2 : f32
  %4 = const 0.0 : f32
  %5 = mul %3, %4 : f32
  store %y, %2, %5
}
)");
  CHECK_THAT(text, ContainsSubstring("v5 = v3 * uintBitsToFloat(tn_opaque(0x0u));"));
}

TEST_CASE("what is computed of literals alone is not computed ahead") {
  const auto text = [](std::string_view number, std::string_view dtype) {
    return glsl(fmt::format(
        R"(program none(%y: global {1} write) workgroup 1 1 1 {{
  %1 = const 0 : i32
  %2 = const {0} : {1}
  %3 = floor %2 : {1}
  store %y, %1, %3
}}
)",
        number, dtype));
  };
  CHECK_THAT(text("0.0", "f32"), ContainsSubstring("= uintBitsToFloat(tn_opaque(0x0u));"));
  CHECK_THAT(text("0.25", "f32"), ContainsSubstring("= uintBitsToFloat(tn_opaque(0x3e800000u));"));
  CHECK_THAT(text("0.1", "f64"),
             ContainsSubstring("= uint64BitsToDouble(uint64_t(tn_opaque(0x3fb99999u)) << 32u | "
                               "uint64_t(tn_opaque(0x9999999au)));"));
}

TEST_CASE("a float that comes of a literal of another dtype is not computed ahead") {
  const auto text = [](std::string_view number, std::string_view from, std::string_view to) {
    return glsl(fmt::format(
        R"(program none(%y: global {2} write) workgroup 1 1 1 {{
  %1 = const 0 : i32
  %2 = const {0} : {1}
  %3 = cast %2 : {2}
  store %y, %1, %3
}}
)",
        number, from, to));
  };
  CHECK_THAT(text("0.0", "f16", "f64"), ContainsSubstring("= tn_opaque(0x0u);"));
  CHECK_THAT(text("0", "i8", "f32"),
             ContainsSubstring("= ((int(tn_opaque(0x0u)) << 24u) >> 24u);"));
  CHECK_THAT(text("0", "i64", "f64"), ContainsSubstring("uint64_t(tn_opaque(0x0u)) << 32u"));
  CHECK_THAT(text("false", "bool", "f32"), ContainsSubstring("= (tn_opaque(0x0u) != 0u);"));
  CHECK_THAT(text("7", "i32", "u32"), !ContainsSubstring("tn_opaque"));
}

TEST_CASE("a fused product with a constant zero keeps it from the compiler") {
  const std::string text = glsl(
      R"(program zero(%x: global f32 read, %y: global f32 write) workgroup 1 1 1 {
  %2 = const 0 : i32
  %3 = load %x, %2 : f32
  %4 = const -0.0 : f32
  %5 = fma %3, %4, %3 : f32
  %6 = const 0.0 : f32
  %7 = mul %5, %6 : f32
  %8 = add %7, %3 contract : f32
  store %y, %2, %8
}
)");
  CHECK_THAT(text, ContainsSubstring("v5 = fma(v3, uintBitsToFloat(tn_opaque(0x80000000u)), v3);"));
  CHECK_THAT(text, ContainsSubstring("v8 = fma(v5, uintBitsToFloat(tn_opaque(0x0u)), v3);"));
}

TEST_CASE("what a mask leaves is no constant of GLSL's compiler where it is a float") {
  const auto masked = [](std::string_view dtype, std::string_view fill) {
    return glsl(fmt::format(
        R"(program masked(%x: global {0} read, %y: global {0} write) workgroup 1 1 1 {{
  %2 = const 0 : i32
  %3 = index grid.x : i32
  %4 = cmplt %3, %2 : bool
  %5 = const {1} : {0}
  %6 = load %x, %3, %4, %5 : {0}
  store %y, %3, %6
}}
)",
        dtype, fill));
  };
  CHECK_THAT(masked("f32", "0.0"),
             ContainsSubstring("else { v6 = uintBitsToFloat(tn_opaque(0x0u)); }"));
  CHECK_THAT(masked("bf16", "0.0"), ContainsSubstring("else { v6 = tn_opaque(0x0u); }"));
  CHECK_THAT(masked("f32", "1.0"), ContainsSubstring("else { v6 = 1.0; }"));
  CHECK_THAT(masked("i32", "0"), ContainsSubstring("else { v6 = 0; }"));
}

TEST_CASE("a buffer of which only runs of four are touched is an array of vectors in GLSL") {
  constexpr std::string_view kRuns =
      R"(program runs(%x: global f32 read, %i: global i32 read, %y: global f32 write, %z: global f32 write) workgroup 1 1 1 {
  %near = param shared f32[8]
  %5 = index grid.x : i32
  %6 = const 8 : i32
  %7 = mul %5, %6 : i32
  %8 = load %x, %7 aligned : f32x8
  %9 = const 0 : i32
  store %near, %9, %8 aligned
  %11 = load %near, %9 aligned : f32x8
  %12 = load %i, %7 : i32x8
  %13 = cast %12 : f32x8
  %14 = add %11, %13 : f32x8
  store %y, %7, %14 aligned
  store %z, %7, %14 aligned
  %17 = extract %14, 5 : f32
  store %z, %7, %17
}
)";
  const std::string text = glsl(kRuns);
  CHECK_THAT(text, ContainsSubstring("{ vec4 p_x[]; }"));
  CHECK_THAT(text, ContainsSubstring("{ int p_i[]; }"));  // its runs may begin anywhere
  CHECK_THAT(text, ContainsSubstring("{ vec4 p_y[]; }"));
  CHECK_THAT(text, ContainsSubstring("{ float p_z[]; }"));  // one element is stored alone
  CHECK_THAT(text, ContainsSubstring("shared vec4 p_near[2];"));
  CHECK_THAT(text, ContainsSubstring("{ vec4 w = p_x[(v7 >> 2u) + 1]; v8[4] = w[0];"));
  CHECK_THAT(text,
             ContainsSubstring("p_y[(v7 >> 2u) + 1] = vec4(v14[4], v14[5], v14[6], v14[7]);"));

  NullDevice host;
  std::vector<float> x(32);
  std::iota(x.begin(), x.end(), -5.f);
  Bytes in = bytes_of(x), add = bytes_of(std::vector<int>(32, 3));
  const Program program = parsed(kRuns);
  ShaderKernels kernels;
  kernels.add(program);
  kernels.build();
  Bytes ours[2], theirs[2];
  for (int k = 0; k < 2; ++k) ours[k] = theirs[k] = Bytes(128, 1);
  const auto arguments = [&](Bytes* out) {
    return std::vector<TestArgument>{{&in}, {&add}, {&out[0]}, {&out[1]}};
  };
  kernels.run(0, {4, 1, 1}, arguments(ours));
  host.run(program, {4, 1, 1}, arguments(theirs));
  CHECK(ours[0] == theirs[0]);
  CHECK(ours[1] == theirs[1]);
}

TEST_CASE("GLSL's text") {
  for (const auto& [name, text] :
       {std::pair("softmax", samples::kSoftmax), std::pair("reverse", samples::kShared),
        std::pair("subgroups", samples::kSubgroup)}) {
    std::ifstream file(std::string(TENON_SOURCE_DIR) + "/tests/golden/render/" + name + ".glsl");
    std::stringstream golden;
    golden << file.rdbuf();
    CHECK(glsl(text) == golden.str());
  }
}

TEST_CASE("what GLSL has no words for is refused") {
  CHECK_THROWS_WITH(glsl(samples::kMatrix), "glsl: has no words for async_copy");
  CHECK_THROWS_WITH(glsl(R"(program swap(%x: global f32 read write) workgroup 1 1 1 {
  %1 = const 0 : i32
  %2 = const 1.0 : f32
  %3 = atomic.add.block %x, %1, %2 : f32
}
)"),
                    "glsl: has no words for atomic");
}
