// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exponentials, logarithms, sine and cosine against long double, over every exponent. The hidden
// test [exhaustive] tries every f32 and prints the worst error of each op.
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>

#include "sdk/program/view.hpp"
#include "tests/cpu/harness.hpp"

namespace tenon::cpu_test {
namespace {

struct Function {
  tn_opcode op;
  long double (*exact)(long double);
  double (*close)(double);  // good to 2^-29 of an f32's unit: fast enough for all of them
  double bound;             // ULP, f32
};
const Function kFunctions[] = {
    {TN_OP_EXP2, [](long double x) { return std::exp2(x); }, std::exp2, 3},
    {TN_OP_EXP, [](long double x) { return std::exp(x); }, std::exp, 3},
    {TN_OP_LOG2, [](long double x) { return std::log2(x); }, std::log2, 3},
    {TN_OP_LN, [](long double x) { return std::log(x); }, std::log, 3},
    {TN_OP_SIN, [](long double x) { return std::sin(x); }, std::sin, 4},
    {TN_OP_COS, [](long double x) { return std::cos(x); }, std::cos, 4}};

/// Error in units of the last place of the exact result's binade; infinity where special values
/// differ.
template <class Float, class Wide>
double ulps(Float got, Wide exact) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isnan(exact)) return std::isnan(got) ? 0 : kWrong;
  const auto rounded = static_cast<Float>(exact);
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : kWrong;
  if (exact == 0) return got == 0 && std::signbit(got) == std::signbit(exact) ? 0 : kWrong;
  using Limits = std::numeric_limits<Float>;
  const int exponent = std::max(std::ilogb(exact), Limits::min_exponent - 1);
  const double off = static_cast<double>(static_cast<Wide>(got) - exact);
  return std::abs(std::ldexp(off, Limits::digits - 1 - exponent));
}

template <class Float>
std::vector<Float> apply(tn_opcode op, const std::vector<Float>& x, uint16_t lanes) {
  const tn_dtype dtype[] = {sizeof(Float) == 4 ? TN_DTYPE_F32 : TN_DTYPE_F64};
  Bytes in = bytes_of(x), out(in.size());
  shared_device().run(elementwise_program(op, dtype, dtype[0], lanes),
                      {static_cast<uint32_t>(x.size() / lanes)}, {{&in}, {&out}});
  return values_of<Float>(out);
}

}  // namespace

TEST_CASE("f32 functions over every exponent") {
  std::vector<float> x;
  std::mt19937 random(1);
  for (uint32_t top = 0; top < 512; ++top) {
    for (int i = 0; i < 512; ++i)
      x.push_back(std::bit_cast<float>((top << 23) | (i == 0 ? 0 : uint32_t(random()) & 0x7fffff)));
  }
  // Near 1 for logarithms, the whole ranges of exponentials, near multiples of pi/2 for sine.
  for (int i = -4096; i < 4096; ++i) {
    x.push_back(std::bit_cast<float>(0x3f800000 + i));
    x.push_back(static_cast<float>(i) * 0.0371f);
    x.push_back(static_cast<float>(i * 1.57079632679489662));
    x.push_back(static_cast<float>(i * 37 * 1.57079632679489662));
  }
  for (const Function& function : kFunctions) {
    const std::vector<float> scalars = apply(function.op, x, 1);
    for (uint16_t lanes : {1, 3, 8, 16, 24}) {
      const std::vector<float> y = apply(function.op, x, lanes);
      size_t others = 0;  // bits
      for (size_t i = 0; i < x.size(); ++i)
        others += std::bit_cast<uint32_t>(y[i]) != std::bit_cast<uint32_t>(scalars[i]) &&
                  !(std::isnan(y[i]) && std::isnan(scalars[i]));
      CHECK(others == 0);  // whatever is beside them: also of lanes that are not there
      double worst = 0;
      float at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double error = ulps(y[i], function.exact(x[i]));
        if (error > worst) worst = error, at = x[i];
      }
      CAPTURE(function.op, lanes, at);
      CHECK(worst <= function.bound);
    }
  }
}

TEST_CASE("f64 functions over every exponent") {
  std::vector<double> x;
  std::mt19937_64 random(2);
  for (uint64_t top = 0; top < 4096; ++top) {
    for (int i = 0; i < 16; ++i)
      x.push_back(std::bit_cast<double>((top << 52) | (i == 0 ? 0 : random() >> 12)));
  }
  for (int i = -4096; i < 4096; ++i) x.push_back(i * 0.2711);
  for (const Function& function : kFunctions) {
    for (uint16_t lanes : {1, 8}) {
      const std::vector<double> y = apply(function.op, x, lanes);
      double worst = 0, at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double error = ulps(y[i], function.exact(x[i]));
        if (error > worst) worst = error, at = x[i];
      }
      CAPTURE(function.op, lanes, at);
      CHECK(worst <= 1.0);
    }
  }
}

TEST_CASE("every f32", "[.][exhaustive]") {
  constexpr uint32_t kChunk = 1 << 22;
  for (const Function& function : kFunctions) {
    double worst = 0;
    float at = 0;
    for (uint64_t begin = 0; begin < uint64_t{1} << 32; begin += kChunk) {
      std::vector<float> x(kChunk);
      for (uint32_t i = 0; i < kChunk; ++i)
        x[i] = std::bit_cast<float>(static_cast<uint32_t>(begin + i));
      const std::vector<float> y = apply(function.op, x, 16);
      for (uint32_t i = 0; i < kChunk; ++i) {
        const double error = ulps(y[i], function.close(x[i]));
        if (error > worst) worst = error, at = x[i];
      }
    }
    std::printf("op %d: worst %.3f ULP at %a\n", function.op, worst, at);
    std::fflush(stdout);
    CHECK(worst <= function.bound);
  }
}

}  // namespace tenon::cpu_test
