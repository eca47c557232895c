// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One small function for each thing that a variant computes otherwise.
#include "conformance/selftest/plugin/arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tenon::planted {
namespace {

using Function = sdk::ScalarFunction;

float f32(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
uint64_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }

bool is_ordinary(float value) { return std::isfinite(value) && value != 0; }

/// So many units in the last place away from zero.
uint64_t off_by(float value, int ulps) {
  return is_ordinary(value) ? bits_of(value) + static_cast<uint64_t>(int64_t{ulps})
                            : bits_of(value);
}

/// The same for the same operand, and rather random.
uint64_t hash(uint64_t a, uint64_t b = 0) {
  return (a * 0x9E3779B97F4A7C15u + b * 0xC2B2AE3D27D4EB4Fu) >> 40;
}

// ---- Arithmetic --------------------------------------------------------------------------------

uint64_t exp2_by_exp(uint64_t x, uint64_t, uint64_t) {
  const float product = f32(x) * 0x1.62e43p-1f;
  return bits_of(static_cast<float>(std::exp(static_cast<double>(product))));
}

double series_of_sin(double x) {
  double term = x, sum = x;
  for (int k = 1; k <= 10; ++k) {
    term *= -x * x / ((2.0 * k) * (2.0 * k + 1));
    sum += term;
  }
  return sum;
}
uint64_t sin_by_series(uint64_t x, uint64_t, uint64_t) {
  return bits_of(static_cast<float>(series_of_sin(static_cast<double>(f32(x)))));
}

uint64_t fdiv_5ulp(uint64_t a, uint64_t b, uint64_t) {
  const float quotient = f32(a) / f32(b);
  const bool normal = std::fabs(quotient) >= 0x1p-126f;
  return off_by(quotient, normal && hash(a, b) % 8 == 0 ? 5 : 0);
}
uint64_t recip_5ulp(uint64_t a, uint64_t, uint64_t) { return fdiv_5ulp(bits_of(1.0f), a, 0); }

uint64_t log2_few_digits(uint64_t a, uint64_t, uint64_t) {
  const float x = f32(a);
  const double exact = std::log2(static_cast<double>(x));
  if (!(x > 0.9f && x < 1.1f)) return bits_of(static_cast<float>(exact));
  return bits_of(static_cast<float>(std::nearbyint(exact * 0x1p23) * 0x1p-23));
}

uint64_t f16_truncated(uint64_t a, uint64_t, uint64_t) {
  const uint64_t rounded = sdk::convert(a, TN_DTYPE_F32, TN_DTYPE_F16);
  const double exact = sdk::to_double(a, TN_DTYPE_F32);
  const double got = sdk::to_double(rounded, TN_DTYPE_F16);
  return std::fabs(got) > std::fabs(exact) ? rounded - 1 : rounded;
}
uint64_t f16_saturated(uint64_t a, uint64_t, uint64_t) {
  const uint64_t rounded = sdk::convert(a, TN_DTYPE_F32, TN_DTYPE_F16);
  return (rounded & 0x7fff) == 0x7c00 ? rounded - 1 : rounded;
}

// ---- Special values ----------------------------------------------------------------------------

template <bool kIsMax>
uint64_t ignoring_nan(uint64_t a, uint64_t b, uint64_t) {
  const float x = f32(a), y = f32(b);
  if (std::isnan(x)) return b;
  if (std::isnan(y)) return a;
  return bits_of(kIsMax ? std::fmax(x, y) : std::fmin(x, y));
}

uint64_t less_or_nan(uint64_t a, uint64_t b, uint64_t) { return !(f32(a) >= f32(b)); }

float flushed(float value) {
  return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
}
template <uint16_t kOp, bool kFlushInput>
uint64_t flushing(uint64_t a, uint64_t b, uint64_t c) {
  const auto read = [](uint64_t bits) { return kFlushInput ? flushed(f32(bits)) : f32(bits); };
  const float x = read(a), y = read(b), z = read(c);
  if (kOp == TN_OP_ADD) return bits_of(flushed(x + y));
  if (kOp == TN_OP_SUB) return bits_of(flushed(x - y));
  if (kOp == TN_OP_FMA) return bits_of(flushed(std::fma(x, y, z)));
  return bits_of(flushed(x * y));
}

/// As ops.def has it, and then flushed.
template <uint16_t kOp, uint8_t kFrom = TN_DTYPE_F32>
uint64_t with_flushed_result(uint64_t a, uint64_t b, uint64_t c) {
  static const Function exact = sdk::scalar_function(kOp, kFrom, TN_DTYPE_F32);
  return bits_of(flushed(f32(exact(a, b, c))));
}

uint64_t recip_unsigned_zero(uint64_t a, uint64_t, uint64_t) {
  const float x = f32(a);
  return bits_of(x == 0 ? INFINITY : 1 / x);
}

// ---- Integers ----------------------------------------------------------------------------------

template <uint8_t kDType>
int64_t value_of(uint64_t bits) {
  return static_cast<int64_t>(sdk::convert(bits, kDType, TN_DTYPE_I64));
}

template <uint8_t kDType>
uint64_t divide_down(uint64_t a, uint64_t b, uint64_t) {
  const int64_t x = value_of<kDType>(a), y = value_of<kDType>(b);
  if (y == 0) return 0;
  if (y == -1) return sdk::convert(uint64_t{0} - static_cast<uint64_t>(x), TN_DTYPE_I64, kDType);
  const int64_t quotient = x / y - (x % y != 0 && (x < 0) != (y < 0));
  return sdk::convert(static_cast<uint64_t>(quotient), TN_DTYPE_I64, kDType);
}

template <uint8_t kDType, uint64_t kBits>
uint64_t shift_in_zeros(uint64_t a, uint64_t b, uint64_t) {
  const int64_t count = value_of<kDType>(b);
  const uint64_t mask = ~uint64_t{0} >> (64 - kBits);
  const bool inside = count >= 0 && count < static_cast<int64_t>(kBits);
  return inside ? (a & mask) >> count : 0;
}

template <uint16_t kOp>
uint64_t in_doubles(uint64_t a, uint64_t b, uint64_t) {
  const auto x = static_cast<double>(static_cast<int64_t>(a));
  const auto y = static_cast<double>(static_cast<int64_t>(b));
  const double result = kOp == TN_OP_ADD ? x + y : kOp == TN_OP_SUB ? x - y : x * y;
  return sdk::from_double(result, TN_DTYPE_I64);
}

/// As x86 has it: what i64 lacks, and NaN, is its smallest, and its low bits are the result.
template <uint8_t kTo>
uint64_t cast_cut(uint64_t a, uint64_t, uint64_t) {
  const float x = f32(a);
  const int64_t whole = std::fabs(x) < 0x1p63f ? static_cast<int64_t>(x) : INT64_MIN;
  return sdk::convert(static_cast<uint64_t>(whole), TN_DTYPE_I64, kTo);
}

uint64_t u8_sum(uint64_t a, uint64_t b, uint64_t) { return std::min<uint64_t>(a + b, 255); }

// ---- Benign: errors up to the bounds
// ---------------------------------------------------------------

/// The exact value, rounded, and then less than `ulps` off in all.
uint64_t nearly(double exact, double ulps, uint64_t seed) {
  const auto rounded = static_cast<float>(exact);
  if (!is_ordinary(rounded) || std::fabs(rounded) < 0x1p-100f || std::fabs(rounded) > 0x1p120f)
    return bits_of(rounded);
  const int most = static_cast<int>(ulps - 0.5);
  const int off = static_cast<int>(hash(seed) % static_cast<uint64_t>(2 * most + 1)) - most;
  const uint64_t out = off_by(rounded, off);
  const bool same_octave = std::ilogb(f32(out)) == std::ilogb(exact);  // units of one size
  return same_octave ? out : bits_of(rounded);
}

uint64_t exp2_2_9ulp(uint64_t a, uint64_t, uint64_t) {
  return nearly(std::exp2(static_cast<double>(f32(a))), 2.9, a);
}
uint64_t recip_relaxed(uint64_t a, uint64_t, uint64_t) {
  return nearly(1 / static_cast<double>(f32(a)), 2.5, a);
}
uint64_t fdiv_relaxed(uint64_t a, uint64_t b, uint64_t) {
  return nearly(static_cast<double>(f32(a)) / static_cast<double>(f32(b)), 2.5, a ^ b << 9);
}
/// As Vulkan has it: 1 over an inverse square root of 2 ULP, divided with 2.5.
uint64_t sqrt_relaxed(uint64_t a, uint64_t, uint64_t) {
  const float x = f32(a);
  if (!is_ordinary(x) || x < 0) return bits_of(std::sqrt(x));
  const uint64_t inverse = nearly(1 / std::sqrt(static_cast<double>(x)), 2, a);
  return nearly(1 / static_cast<double>(f32(inverse)), 2.5, ~a);
}
uint64_t exp2_relaxed(uint64_t a, uint64_t, uint64_t) {
  const auto x = static_cast<double>(f32(a));
  return nearly(std::exp2(x), std::isfinite(x) ? 3 + 2 * std::fabs(x) : 1, a);
}
uint64_t log2_relaxed(uint64_t a, uint64_t, uint64_t) {
  const auto x = static_cast<double>(f32(a));
  return nearly(std::log2(x), 3, a);
}
uint64_t sin_relaxed(uint64_t a, uint64_t, uint64_t) {
  const auto x = static_cast<double>(f32(a));
  const double exact = std::sin(x);
  if (!(std::fabs(x) > 0.01)) return bits_of(static_cast<float>(exact));
  const double off = (static_cast<double>(hash(a) % 1024) / 1024 - 0.5) * 1.9 * 0x1p-11;
  return bits_of(static_cast<float>(std::clamp(exact + off, -1.0, 1.0)));
}

// ---- Tables ------------------------------------------------------------------------------------

constexpr uint8_t kAny = 0xff;

struct Row {
  Variant variant;
  uint16_t op;
  uint8_t from, to;  ///< dtypes of the last operand and the value
  Function function;
};

template <uint8_t kDType, uint64_t kBits>
constexpr Row kShift = {Variant::shr_logical, TN_OP_SHR, kDType, kDType,
                        shift_in_zeros<kDType, kBits>};
template <uint8_t kTo>
constexpr Row kCut = {Variant::int_cast_wraps, TN_OP_CAST, TN_DTYPE_F32, kTo, cast_cut<kTo>};
template <uint8_t kDType>
constexpr Row kFloor = {Variant::idiv_floors, TN_OP_IDIV, kDType, kDType, divide_down<kDType>};
constexpr Row f32_row(Variant variant, uint16_t op, Function function) {
  return {variant, op, TN_DTYPE_F32, TN_DTYPE_F32, function};
}
constexpr Row i64_row(uint16_t op, Function function) {
  return {Variant::i64_through_f64, op, TN_DTYPE_I64, TN_DTYPE_I64, function};
}

using V = Variant;
constexpr Row kRows[] = {
    f32_row(V::exp2_ln2, TN_OP_EXP2, exp2_by_exp),
    f32_row(V::sin_no_reduction, TN_OP_SIN, sin_by_series),
    f32_row(V::div_5ulp, TN_OP_FDIV, fdiv_5ulp),
    f32_row(V::div_5ulp, TN_OP_RECIP, recip_5ulp),
    {V::f16_truncates, TN_OP_CAST, TN_DTYPE_F32, TN_DTYPE_F16, f16_truncated},
    f32_row(V::log2_near_1, TN_OP_LOG2, log2_few_digits),
    f32_row(V::max_drops_nan, TN_OP_MAX, ignoring_nan<true>),
    f32_row(V::max_drops_nan, TN_OP_MIN, ignoring_nan<false>),
    {V::nan_compares_true, TN_OP_CMPLT, TN_DTYPE_F32, kAny, less_or_nan},
    f32_row(V::undeclared_ftz, TN_OP_ADD, flushing<TN_OP_ADD, false>),
    f32_row(V::undeclared_ftz, TN_OP_MUL, flushing<TN_OP_MUL, false>),
    {V::f16_saturates, TN_OP_CAST, TN_DTYPE_F32, TN_DTYPE_F16, f16_saturated},
    f32_row(V::recip_negative_zero, TN_OP_RECIP, recip_unsigned_zero),
    kFloor<TN_DTYPE_I8>,
    kFloor<TN_DTYPE_I16>,
    kFloor<TN_DTYPE_I32>,
    kFloor<TN_DTYPE_I64>,
    kShift<TN_DTYPE_I8, 8>,
    kShift<TN_DTYPE_I16, 16>,
    kShift<TN_DTYPE_I32, 32>,
    kShift<TN_DTYPE_I64, 64>,
    kCut<TN_DTYPE_I8>,
    kCut<TN_DTYPE_I16>,
    kCut<TN_DTYPE_I32>,
    kCut<TN_DTYPE_I64>,
    kCut<TN_DTYPE_U8>,
    kCut<TN_DTYPE_U16>,
    kCut<TN_DTYPE_U32>,
    kCut<TN_DTYPE_U64>,
    i64_row(TN_OP_ADD, in_doubles<TN_OP_ADD>),
    i64_row(TN_OP_SUB, in_doubles<TN_OP_SUB>),
    i64_row(TN_OP_MUL, in_doubles<TN_OP_MUL>),
    {V::u8_saturates, TN_OP_ADD, TN_DTYPE_U8, TN_DTYPE_U8, u8_sum},
    f32_row(V::exp2_2_9ulp, TN_OP_EXP2, exp2_2_9ulp),
    f32_row(V::declared_ftz, TN_OP_ADD, flushing<TN_OP_ADD, true>),
    f32_row(V::declared_ftz, TN_OP_SUB, flushing<TN_OP_SUB, true>),
    f32_row(V::declared_ftz, TN_OP_MUL, flushing<TN_OP_MUL, true>),
    f32_row(V::declared_ftz, TN_OP_FMA, flushing<TN_OP_FMA, true>),
    f32_row(V::flushed_results, TN_OP_ADD, with_flushed_result<TN_OP_ADD>),
    f32_row(V::flushed_results, TN_OP_SUB, with_flushed_result<TN_OP_SUB>),
    f32_row(V::flushed_results, TN_OP_MUL, with_flushed_result<TN_OP_MUL>),
    f32_row(V::flushed_results, TN_OP_FMA, with_flushed_result<TN_OP_FMA>),
    f32_row(V::flushed_results, TN_OP_FDIV, with_flushed_result<TN_OP_FDIV>),
    f32_row(V::flushed_results, TN_OP_RECIP, with_flushed_result<TN_OP_RECIP>),
    f32_row(V::flushed_results, TN_OP_MAX, with_flushed_result<TN_OP_MAX>),
    f32_row(V::flushed_results, TN_OP_MIN, with_flushed_result<TN_OP_MIN>),
    f32_row(V::flushed_results, TN_OP_EXP2, with_flushed_result<TN_OP_EXP2>),
    f32_row(V::flushed_results, TN_OP_SIN, with_flushed_result<TN_OP_SIN>),
    {V::flushed_results, TN_OP_CAST, TN_DTYPE_F64, TN_DTYPE_F32,
     with_flushed_result<TN_OP_CAST, TN_DTYPE_F64>},
    f32_row(V::relaxed, TN_OP_RECIP, recip_relaxed),
    f32_row(V::relaxed, TN_OP_FDIV, fdiv_relaxed),
    f32_row(V::relaxed, TN_OP_SQRT, sqrt_relaxed),
    f32_row(V::relaxed, TN_OP_EXP2, exp2_relaxed),
    f32_row(V::relaxed, TN_OP_LOG2, log2_relaxed),
    f32_row(V::relaxed, TN_OP_SIN, sin_relaxed),
};

}  // namespace

Function function_of(Variant variant, const sdk::ProgramView& program, const tn_op& op,
                     Function plain) {
  if (!plain || (op.op == TN_OP_CAST && op.imm == TN_CAST_BITS)) return plain;
  const auto operands = program.operands(op);
  const uint8_t from = operands.empty() ? op.dtype : program.op(operands.back()).dtype;
  const uint16_t code = op.op == TN_OP_LANE_REDUCE ? static_cast<uint16_t>(op.imm) : op.op;
  for (const Row& row : kRows)
    if (row.variant == variant && row.op == code && row.from == from &&
        (row.to == kAny || row.to == op.dtype))
      return row.function;
  return plain;
}

uint64_t add_in_bf16(uint64_t a, uint64_t b) {
  const uint64_t sum = sdk::convert(bits_of(f32(a) + f32(b)), TN_DTYPE_F32, TN_DTYPE_BF16);
  return sdk::convert(sum, TN_DTYPE_BF16, TN_DTYPE_F32);
}

uint64_t fused(uint8_t dtype, uint64_t x, uint64_t y, uint64_t z) {
  if (dtype == TN_DTYPE_F32) return bits_of(std::fma(f32(x), f32(y), f32(z)));
  return std::bit_cast<uint64_t>(
      std::fma(std::bit_cast<double>(x), std::bit_cast<double>(y), std::bit_cast<double>(z)));
}

}  // namespace tenon::planted
