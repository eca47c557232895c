// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The transcendental functions of shaders keep the strict row of docs/abi.md: 3, 3 and 4
// units in the last place; trunc is exact. Samples stand evenly among the bits of all numbers.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>

#include "tests/sdk/shader_kernels.hpp"

using namespace tenon::sdk;

namespace {

constexpr uint32_t kSamples = 60000;

struct Function {
  tn_opcode op;
  long double (*exact)(long double);
  double units;
};
constexpr Function kFunctions[] = {{TN_OP_EXP2, std::exp2, 3},  {TN_OP_EXP, std::exp, 3},
                                   {TN_OP_LOG2, std::log2, 3},  {TN_OP_LN, std::log, 3},
                                   {TN_OP_SIN, std::sin, 4},    {TN_OP_COS, std::cos, 4},
                                   {TN_OP_TRUNC, std::trunc, 0}};

Program program_of(tn_opcode op, tn_dtype dtype) {
  ProgramBuilder builder("math");
  const auto x = builder.buffer("x", dtype, TN_ACCESS_READ);
  const auto y = builder.buffer("y", dtype, TN_ACCESS_WRITE);
  const auto at = builder.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  const auto value = builder.op(TN_OP_TAKE, dtype, 1, {x, at});
  const auto result = builder.op(op, dtype, 1, {value});
  builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {y, at, result});
  return builder.finish();
}

/// Half of all bits, half between -16 and 16.
template <class Float, class Bits>
std::vector<Float> samples() {
  std::vector<Float> out;
  for (uint32_t i = 0; i < kSamples; ++i) {
    const Bits bits = static_cast<Bits>(i) * (~Bits{0} / kSamples) + i * 12345;
    Float value;
    std::memcpy(&value, &bits, sizeof value);
    out.push_back(i % 2 ? value : static_cast<Float>(i) / kSamples * 32 - 16);
  }
  return out;
}

/// Distance in units in the last place of the exact value; infinite where one is not a number.
template <class Float>
double distance(Float got, long double exact) {
  const auto near = static_cast<Float>(exact);
  if (std::isnan(near)) return std::isnan(got) ? 0 : INFINITY;
  if (got == near || std::isinf(near) || !std::isfinite(got)) return got == near ? 0 : INFINITY;
  constexpr int kLeast = std::numeric_limits<Float>::min_exponent - 1;
  const int exponent = near == 0 ? kLeast : std::max(std::ilogb(near), kLeast);
  const long double unit = std::ldexp(1.0L, exponent - std::numeric_limits<Float>::digits + 1);
  return static_cast<double>(std::fabs((got - exact) / unit));
}

template <class Float, class Bits>
void check(tn_dtype dtype) {
  ShaderKernels kernels;
  for (const Function& function : kFunctions) kernels.add(program_of(function.op, dtype));
  kernels.build();
  const std::vector<Float> x = samples<Float, Bits>();
  Bytes in = bytes_of(x);
  for (size_t k = 0; k < std::size(kFunctions); ++k) {
    Bytes out(in.size());
    kernels.run(k, {kSamples, 1, 1}, {{&in}, {&out}});
    const std::vector<Float> y = values_of<Float>(out);
    for (uint32_t i = 0; i < kSamples; ++i) {
      const double error = distance(y[i], kFunctions[k].exact(x[i]));
      if (error > kFunctions[k].units) {
        FAIL_CHECK(fmt::format("{} of {}: got {}, {} units away", op_text(kFunctions[k].op), x[i],
                               y[i], error));
      }
    }
  }
}

}  // namespace

TEST_CASE("shaders' functions of f32 are exact enough") { check<float, uint32_t>(TN_DTYPE_F32); }
TEST_CASE("shaders' functions of f64 are exact enough") { check<double, uint64_t>(TN_DTYPE_F64); }
