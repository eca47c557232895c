// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function for each op and dtype, looked up once and called for each element.
#include "sdk/program/scalar.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

#include "sdk/program/narrow_float.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/view.hpp"

namespace tenon::sdk {
namespace {

/// Converts bits of a dtype to a value to compute with (double, int64_t or uint64_t), and back.
template <uint8_t kDType>
struct ScalarType {
  static constexpr const DTypeInfo& kInfo = *dtype_info(kDType);
  static constexpr bool kIsFloat = is_float(kInfo);
  static constexpr bool kIsSigned = kInfo.kind == DTypeClass::SIGNED;
  static constexpr int kBits = kDType == TN_DTYPE_BOOL ? 1 : 8 * kInfo.bytes;
  using Value =
      std::conditional_t<kIsFloat, double, std::conditional_t<kIsSigned, int64_t, uint64_t>>;

  static Value load(uint64_t bits) {
    if constexpr (kDType == TN_DTYPE_F64)
      return std::bit_cast<double>(bits);
    else if constexpr (kDType == TN_DTYPE_F32)
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    else if constexpr (kIsFloat)
      return decode_narrow(bits, kInfo.format);
    else if constexpr (kIsSigned)
      return static_cast<int64_t>(bits << (64 - kBits)) >> (64 - kBits);
    else
      return bits;
  }
  static uint64_t store(Value value) {
    if constexpr (kDType == TN_DTYPE_F64)
      return std::bit_cast<uint64_t>(value);
    else if constexpr (kDType == TN_DTYPE_F32)
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    else if constexpr (kIsFloat)
      return encode_narrow(value, kInfo.format);
    else if constexpr (kBits == 64)
      return static_cast<uint64_t>(value);
    else
      return static_cast<uint64_t>(value) & ((uint64_t{1} << kBits) - 1);
  }
};

// ---- Floats, in double -----------------------------------------------------------------------

double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

/// x*y+z for floats of at most 24 bits. The product is exact and the sum is rounded to odd, so that
/// the later rounding to the dtype is correct.
double narrow_fma(double x, double y, double z) {
  const double product = x * y, sum = product + z;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (z - part);
  const auto bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1)) return sum;
  return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

template <uint16_t kOp, uint8_t kDType>
double float_op(double a, double b, double c) {
  if constexpr (kOp == TN_OP_RECIP) return 1 / a;
  if constexpr (kOp == TN_OP_SQRT) return std::sqrt(a);
  if constexpr (kOp == TN_OP_EXP2) return std::exp2(a);
  if constexpr (kOp == TN_OP_LOG2) return std::log2(a);
  if constexpr (kOp == TN_OP_SIN) return std::sin(a);
  if constexpr (kOp == TN_OP_COS) return std::cos(a);
  if constexpr (kOp == TN_OP_EXP) return std::exp(a);
  if constexpr (kOp == TN_OP_LN) return std::log(a);
  if constexpr (kOp == TN_OP_TRUNC) return std::trunc(a);
  if constexpr (kOp == TN_OP_FLOOR) return std::floor(a);
  if constexpr (kOp == TN_OP_ADD) return a + b;
  if constexpr (kOp == TN_OP_SUB) return a - b;
  if constexpr (kOp == TN_OP_MUL) return a * b;
  if constexpr (kOp == TN_OP_FDIV) return a / b;
  if constexpr (kOp == TN_OP_MAX) return maximum(a, b);
  if constexpr (kOp == TN_OP_MIN) return -maximum(-a, -b);
  if constexpr (kOp == TN_OP_FMA) {
    return kDType == TN_DTYPE_F64 ? std::fma(a, b, c) : narrow_fma(a, b, c);
  }
  __builtin_unreachable();
}

// ---- Integers and bool, in 64 bits -------------------------------------------------------------

template <class Value>
uint64_t divide(Value a, Value b) {
  if (b == 0) return 0;
  if (std::is_signed_v<Value> && b == static_cast<Value>(-1)) {
    return uint64_t{0} - static_cast<uint64_t>(a);
  }
  return static_cast<uint64_t>(a / b);
}

template <uint16_t kOp, uint8_t kDType, class Value>
uint64_t integer_op(Value a, Value b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  constexpr bool kIsBool = kDType == TN_DTYPE_BOOL;
  if constexpr (kOp == TN_OP_ADD) return kIsBool ? x | y : x + y;
  if constexpr (kOp == TN_OP_MUL) return kIsBool ? x & y : x * y;
  if constexpr (kOp == TN_OP_SUB) return x - y;
  if constexpr (kOp == TN_OP_NEG) return uint64_t{0} - x;
  if constexpr (kOp == TN_OP_IDIV) return divide(a, b);
  if constexpr (kOp == TN_OP_MOD) return x - divide(a, b) * y;
  if constexpr (kOp == TN_OP_MAX) return a < b ? y : x;
  if constexpr (kOp == TN_OP_MIN) return a < b ? x : y;
  if constexpr (kOp == TN_OP_AND) return x & y;
  if constexpr (kOp == TN_OP_OR) return x | y;
  if constexpr (kOp == TN_OP_XOR) return x ^ y;
  constexpr uint64_t kBits = ScalarType<kDType>::kBits;
  if constexpr (kOp == TN_OP_SHL) return y < kBits ? x << y : 0;
  if constexpr (kOp == TN_OP_SHR)
    return static_cast<uint64_t>(a >> std::min(y, uint64_t{63})) * (y < kBits || a < 0);
  __builtin_unreachable();
}

template <uint16_t kOp, uint8_t kDType>
uint64_t evaluate(uint64_t a, uint64_t b, uint64_t c) {
  using T = ScalarType<kDType>;
  if constexpr (kOp == TN_OP_WHERE) return a ? b : c;
  if constexpr (kOp == TN_OP_CMPLT) return T::load(a) < T::load(b);
  if constexpr (kOp == TN_OP_CMPNE) return T::load(a) != T::load(b);
  if constexpr (kOp == TN_OP_CMPEQ) return T::load(a) == T::load(b);
  if constexpr (T::kIsFloat && kOp == TN_OP_NEG) return negate_narrow(a, T::kInfo.format);
  if constexpr (T::kIsFloat) {
    return T::store(float_op<kOp, kDType>(T::load(a), T::load(b), T::load(c)));
  } else {
    return T::store(
        static_cast<typename T::Value>(integer_op<kOp, kDType>(T::load(a), T::load(b))));
  }
}

// ---- Casts -------------------------------------------------------------------------------------

/// To double, rounded to odd, so that a later rounding to a narrower float is correct.
template <class Value>
double to_double_odd(Value value) {
  const bool negative = value < 0;
  auto magnitude = static_cast<uint64_t>(value);
  if (negative) magnitude = uint64_t{0} - magnitude;
  if (magnitude >> 53)
    magnitude = (magnitude & ~uint64_t{0x7ff}) | ((magnitude & 0x7ff) ? 0x800 : 0);
  const auto out = static_cast<double>(magnitude);
  return negative ? -out : out;
}

template <uint8_t kTo>
uint64_t saturate(double value) {
  using T = ScalarType<kTo>;
  if (std::isnan(value)) return 0;
  constexpr int kMagnitude = T::kIsSigned ? T::kBits - 1 : T::kBits;
  constexpr double kEnd = static_cast<double>(uint64_t{1} << (kMagnitude - 1)) * 2;
  constexpr uint64_t kMost = ~uint64_t{0} >> (64 - kMagnitude);
  if (value >= kEnd) return kMost;
  if constexpr (T::kIsSigned) {
    if (value < -kEnd) return kMost + 1;
    return T::store(static_cast<int64_t>(value));
  }
  return value < 1 ? 0 : static_cast<uint64_t>(value);
}

template <uint8_t kFrom, uint8_t kTo>
uint64_t cast(uint64_t bits, uint64_t, uint64_t) {
  using F = ScalarType<kFrom>;
  using T = ScalarType<kTo>;
  const auto value = F::load(bits);
  if constexpr (kFrom == kTo)
    return bits;
  else if constexpr (kTo == TN_DTYPE_BOOL)
    return value != 0;
  else if constexpr (F::kIsFloat && T::kIsFloat)
    return T::store(value);
  else if constexpr (F::kIsFloat)
    return saturate<kTo>(value);
  else if constexpr (kTo == TN_DTYPE_F64)
    return T::store(static_cast<double>(value));
  else if constexpr (T::kIsFloat)
    return T::store(to_double_odd(value));
  else
    return T::store(static_cast<typename T::Value>(value));
}

// ---- Tables ------------------------------------------------------------------------------------

constexpr const auto& kDTypes = all_dtypes();

using Row = std::array<ScalarFunction, kDTypes.size()>;
constexpr auto kEach = std::make_index_sequence<kDTypes.size()>();

template <uint16_t kOp, OpKind kKind, OpTypes kTypes, size_t... i>
constexpr Row make_row(std::index_sequence<i...>) {
  return {[]() -> ScalarFunction {
    if constexpr (kOp != TN_OP_CAST && is_elementwise(kKind) && takes(kTypes, kDTypes[i])) {
      return evaluate<kOp, kDTypes[i].dtype>;
    }
    return nullptr;
  }()...};
}

template <uint8_t kFrom, size_t... i>
constexpr Row make_casts(std::index_sequence<i...>) {
  return {cast<kFrom, kDTypes[i].dtype>...};
}

template <size_t... i>
constexpr std::array<Row, kDTypes.size()> make_all_casts(std::index_sequence<i...>) {
  return {make_casts<kDTypes[i].dtype>(kEach)...};
}

constexpr std::array<Row, kDTypes.size()> kCasts = make_all_casts(kEach);

struct OpRow {
  uint16_t op;
  Row row;
};
constexpr OpRow kRows[] = {
#define TN_OP(name, code, text, arity, kind, types, ...) \
  {code, make_row<code, OpKind::kind, OpTypes::types>(kEach)},
#include "tenon/ops.def"
};

}  // namespace

ScalarFunction scalar_function(uint16_t op, uint8_t from, uint8_t to) {
  const size_t row = dtype_row(from), column = dtype_row(to);
  if (row == kDTypes.size() || column == kDTypes.size()) return nullptr;
  if (op == TN_OP_CAST) return kCasts[row][column];
  for (const OpRow& each : kRows) {
    if (each.op == op) return each.row[row];
  }
  return nullptr;
}

ScalarFunction scalar_function(const ProgramView& program, const tn_op& op) {
  const auto operands = program.operands(op);
  const uint8_t from = operands.empty() ? op.dtype : program.op(operands.back()).dtype;
  if (op.op == TN_OP_CAST && op.imm == TN_CAST_BITS) {  // a byte is true unless it is 0
    const uint8_t same = op.dtype == TN_DTYPE_BOOL ? uint8_t{TN_DTYPE_U8} : op.dtype;
    return scalar_function(op.op, same, op.dtype);
  }
  const auto code = op.op == TN_OP_LANE_REDUCE ? static_cast<uint16_t>(op.imm) : op.op;
  return scalar_function(code, from, op.dtype);
}

uint64_t convert(uint64_t bits, uint8_t from, uint8_t to) {
  return kCasts[dtype_row(from)][dtype_row(to)](bits, 0, 0);
}
double to_double(uint64_t bits, uint8_t dtype) {
  return std::bit_cast<double>(convert(bits, dtype, TN_DTYPE_F64));
}
uint64_t from_double(double value, uint8_t dtype) {
  return convert(std::bit_cast<uint64_t>(value), TN_DTYPE_F64, dtype);
}

uint64_t apply_atomic(const tn_op& op, uint64_t old, uint64_t value, uint64_t wanted) {
  const auto combined = [&](uint16_t code) {
    return scalar_function(code, op.dtype, op.dtype)(old, value, 0);
  };
  switch (op.imm & 0xff) {
    case TN_ATOMIC_ADD:
      return combined(TN_OP_ADD);
    case TN_ATOMIC_MIN:
      return combined(TN_OP_MIN);
    case TN_ATOMIC_MAX:
      return combined(TN_OP_MAX);
    case TN_ATOMIC_COMPARE_EXCHANGE:
      return old == wanted ? value : old;
    default:
      return value;
  }
}

}  // namespace tenon::sdk
