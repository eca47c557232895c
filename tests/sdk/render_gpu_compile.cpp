// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vendors' run-time compilers take every sample and every op and cast of every dtype, with no
// device there. Skips with the reason where a compiler is not installed.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>

#include "sdk/program/op_info.hpp"
#include "sdk/render/c_printer.hpp"
#include "sdk/render/cuda_dialect.hpp"
#include "sdk/render/dialect_ops.hpp"
#include "sdk/render/hip_dialect.hpp"
#include "sdk/support/failure.hpp"
#include "tests/sdk/op_cases.hpp"
#include "tests/sdk/samples.hpp"
#include "tests/sdk/vendor_compilers.hpp"

using namespace tenon::sdk;

namespace {

std::vector<Program> programs_of(std::span<const tn_dtype> dtypes) {
  std::vector<Program> out;
  for (std::string_view text : samples::kAll) out.push_back(parsed(text));
  for (const tn_dtype dtype : dtypes) {
    out.push_back(elementwise_case(dtype, kCOps).program);
    out.push_back(cast_case(dtype).program);
  }
  return out;
}

bool uses_atoms(const Program& program) {
  for (uint32_t i = 0; i < program.view().op_count(); ++i) {
    if (program.view().op(i).op == TN_OP_MATRIX_MULTIPLY) return true;
  }
  return false;
}

/// Compiles all that the target has atoms for; CHECKs that each gives code.
void compile_all(const RuntimeCompiler& compiler, const Dialect& dialect,
                 const std::vector<std::string>& options, bool has_atoms,
                 std::span<const tn_dtype> dtypes = tested_dtypes()) {
  INFO(options[0]);
  for (const Program& program : programs_of(dtypes)) {
    if (uses_atoms(program) && !has_atoms) continue;
    const std::string source = print_source(program.view(), dialect);
    std::string error;
    try {
      const Compiled out = compiler.compile(source, options, RuntimeCompiler::Output::kCode);
      CHECK(out.bytes.size() > 100);
    } catch (const Failure& failure) {
      error = failure.what();
    }
    INFO(source);
    CHECK(error == "");
  }
}

/// An exponential that may be less exact is the unit's own instruction.
void compile_fast(const RuntimeCompiler& compiler, const Dialect& dialect,
                  const std::vector<std::string>& options) {
  const std::string source = print_source(
      parsed("program p(%x: global f32 read write) workgroup 1 1 1 {\n  %z = const 0 : i32\n"
             "  %v = load %x, %z : f32\n  %e = exp %v approximate : f32\n"
             "  store %x, %z, %e\n}\n")
          .view(),
      dialect);
  INFO(source);
  CHECK(source.find("tn_fast_exp(") != source.rfind("tn_fast_exp("));
  CHECK(compiler.compile(source, options, RuntimeCompiler::Output::kCode).bytes.size() > 100);
}

}  // namespace

TEST_CASE("NVRTC takes every op") {
  try {
    const RuntimeCompiler nvrtc = open_nvrtc();
    compile_fast(nvrtc, cuda_dialect(), cuda_options("sm_80"));
    constexpr tn_dtype kSome[] = {TN_DTYPE_I64, TN_DTYPE_F16, TN_DTYPE_F32};
    for (const char* target : {"sm_75", "sm_80", "sm_89", "sm_90a"}) {
      const bool is_like_80 = std::string_view(target) == "sm_89";
      compile_all(nvrtc, cuda_dialect(), cuda_options(target), std::string_view(target) != "sm_75",
                  is_like_80 ? kSome : tested_dtypes());
    }
  } catch (const Failure& failure) {
    if (failure.code() != TN_ERROR_NOT_FOUND) throw;
    SKIP(failure.what());
  }
}

TEST_CASE("the sign of a float is flipped as a bit by NVRTC") {
  try {
    const RuntimeCompiler nvrtc = open_nvrtc();
    for (const tn_dtype dtype : {TN_DTYPE_F16, TN_DTYPE_BF16, TN_DTYPE_F32, TN_DTYPE_F64}) {
      const std::string program = fmt::format(
          "program p(%x: global {0} read write) workgroup 1 1 1 {{\n  %z = const 0 : i32\n"
          "  %v = load %x, %z : {0}x4\n  %n = neg %v : {0}x4\n  store %x, %z, %n\n}}\n",
          dtype_text(dtype));
      const Compiled ptx =
          nvrtc.compile(print_source(parsed(program).view(), cuda_dialect()),
                        cuda_options("compute_80"), RuntimeCompiler::Output::kText);
      const std::string text(reinterpret_cast<const char*>(ptx.bytes.data()), ptx.bytes.size());
      INFO(text);
      CHECK(text.find("xor.b") != std::string::npos);
      for (const char* other : {"neg.f", "sub.f", "cvt.", "mul.f"}) {
        CHECK(text.find(other) == std::string::npos);
      }
    }
  } catch (const Failure& failure) {
    if (failure.code() != TN_ERROR_NOT_FOUND) throw;
    SKIP(failure.what());
  }
}

TEST_CASE("hiprtc takes every op") {
  try {
    const RuntimeCompiler hiprtc = open_hiprtc();
    compile_fast(hiprtc, hip_dialect(), hip_options("gfx90a"));
    compile_all(hiprtc, hip_dialect(), hip_options("gfx90a"), false);
    constexpr tn_dtype kSome[] = {TN_DTYPE_U8, TN_DTYPE_I64, TN_DTYPE_BF16, TN_DTYPE_F32};
    compile_all(hiprtc, hip_dialect(), hip_options("gfx1030"), false, kSome);
  } catch (const Failure& failure) {
    if (failure.code() != TN_ERROR_NOT_FOUND) throw;
    SKIP(failure.what());
  }
}
