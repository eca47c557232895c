// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/programs/model_value.hpp"

#include <algorithm>
#include <cmath>

#include "conformance/abi/lowest_bit.hpp"
#include "conformance/cases/abi/scalars.hpp"
#include "core/interval/ops.hpp"
#include "core/ir/narrow_float.hpp"
#include "core/support/error.hpp"
#include "sdk/program/op_info.hpp"
#include "tenon/plugin.h"

namespace tenon::conformance::abi::programs {
namespace {

bool is_plain(double value, uint8_t dtype) {
  return value == 0 || (std::isfinite(value) && std::fabs(value) >= least_normal(dtype));
}

bool is_certain(double value, uint8_t dtype, const Specials& keeps) {
  if (std::isnan(value)) return keeps.nan;
  if (std::isinf(value)) return keeps.infinity;
  return keeps.subnormal || is_plain(value, dtype);
}

/// Results of NaN and infinities are IEEE 754's, whatever rounds.
bool is_propagated(uint16_t op, std::span<const double> x) {
  const bool is_arithmetic =
      op == TN_OP_ADD || op == TN_OP_SUB || op == TN_OP_MUL || op == TN_OP_FMA;
  return is_arithmetic && std::ranges::any_of(x, [](double v) { return !std::isfinite(v); });
}

bool all_known(std::span<const ModelValue> values) {
  return std::ranges::all_of(values, &ModelValue::known);
}

/// Nothing was lost: the exact sum and product are the results (Knuth's two-sum, and an FMA).
bool is_sum(double a, double b, double sum) {
  const double part = sum - a;
  return a + b == sum && (a - (sum - part)) + (b - part) == 0;
}
bool is_product(double a, double b, double product) {
  return a * b == product && std::fma(a, b, -product) == 0;
}

/// Whether the float op has one answer for these operands.
bool is_exact(uint16_t op, std::span<const double> x, double result, uint8_t dtype) {
  const auto fits = [&](double value) {
    return is_plain(value, dtype) && to_double(from_double(value, dtype), dtype) == value;
  };
  const sdk::OpFamily family = sdk::op_info(op)->family;
  using enum sdk::OpFamily;
  if (family == SIGN || family == EXTREME || family == WHOLE) return true;
  switch (op) {
    case TN_OP_ADD:
      return is_sum(x[0], x[1], result);
    case TN_OP_SUB:
      return is_sum(x[0], -x[1], result);
    case TN_OP_MUL:
      return is_product(x[0], x[1], result);
    case TN_OP_FMA: {
      const double product = x[0] * x[1];
      return fits(product) && is_product(x[0], x[1], product) && is_sum(product, x[2], result);
    }
    default:
      return false;  // rounds, or has an error of its own
  }
}

Interval range_of(const ModelValue& value, uint8_t dtype) {
  if (value.known) return reference::point(to_double(value.bits, dtype));
  return value.is_bounded ? value.range : reference::anything();
}

ModelValue bounded(uint64_t bits, const Interval& range) {
  return {bits, false, !range.any, range.any ? Interval{} : range};
}

/// What is known of a comparison or a cast of floats that are not known themselves.
ModelValue decide(uint16_t op, uint8_t from, uint8_t to, std::span<const ModelValue> in,
                  uint64_t result, const Profile& profile) {
  if (profile.numerics) return {result, false};
  const Interval a = range_of(in[0], from);
  if (a.any || a.nan || reference::is_empty(a)) return {result, false};
  if (op == TN_OP_CAST) {
    const auto source = static_cast<DType>(from), target = static_cast<DType>(to);
    if (is_float(target)) return bounded(result, reference::nearest(a, target));
    if (!is_float(source)) return {result, false};
    if (to == TN_DTYPE_BOOL) return {result, !reference::contains(a, 0)};
    return {result, from_double(a.low, to) == from_double(a.high, to)};
  }
  const Interval b = range_of(in[1], from);
  if (b.any || b.nan || reference::is_empty(b)) return {result, false};
  const bool is_apart = a.high < b.low || b.high < a.low;
  return {result, is_apart || (op == TN_OP_CMPLT && a.low >= b.high)};
}

/// A float op that may round, or whose operands are not known.
ModelValue within(uint16_t op, uint8_t from, uint8_t to, std::span<const ModelValue> in,
                  uint64_t result, const Profile& profile) {
  if (!sdk::is_float(from) && !sdk::is_float(to)) return {result, false};
  const auto code = static_cast<Op>(op);
  const auto dtype = static_cast<DType>(to);
  if (all_known(in) && reference::is_pinned(code, static_cast<DType>(from), dtype, profile))
    return {result, true};
  if (to == TN_DTYPE_BOOL || op == TN_OP_CAST) return decide(op, from, to, in, result, profile);
  Interval x[3];
  for (size_t k = 0; k < in.size() && k < 3; ++k) x[k] = range_of(in[k], from);
  // The reference's value is always accepted: the image was computed in double.
  const Interval image = reference::apply(code, dtype, x, profile);
  return bounded(result, reference::hull(image, reference::point(to_double(result, to))));
}

ModelValue compute_exact(uint16_t op, uint8_t from, uint8_t to, std::span<const ModelValue> in,
                         const ValueRules& rules) {
  const auto bits = [&](size_t k) { return k < in.size() ? in[k].bits : 0; };
  const uint64_t result = evaluate_op(op, from, to, bits(0), bits(1), bits(2));
  if (rules.is_host || !all_known(in)) return {result, all_known(in)};
  if (op == TN_OP_CAST) {
    // Integers wrap, floats saturate; to a float only what it holds.
    const bool is_nan = sdk::is_float(from) && std::isnan(to_double(in[0].bits, from));
    if (sdk::is_float(from) && !is_certain(to_double(in[0].bits, from), from, rules.keeps))
      return {result, false};
    const bool is_same = !sdk::is_float(to) || is_nan || convert(result, to, from) == in[0].bits;
    return {result, is_same && as_it_is(to, result, rules.keeps).known};
  }
  if (!sdk::is_float(from)) return {result, true};
  double x[3] = {};
  for (size_t k = 0; k < in.size(); ++k) x[k] = to_double(in[k].bits, from);
  for (size_t k = 0; k < in.size(); ++k)
    if (!is_certain(x[k], from, rules.keeps)) return {result, false};
  if (to == TN_DTYPE_BOOL) return {result, true};
  const double value = to_double(result, to);
  if (!is_certain(value, to, rules.keeps)) return {result, false};
  // What f64 makes of products near its smallest is not found out in f64.
  const bool is_lost = op != TN_OP_ADD && op != TN_OP_SUB && !is_plain(value, to) &&
                       std::isfinite(value) && sdk::dtype_bytes(to) == 8;
  const auto used = std::span(x, in.size());
  return {result, is_propagated(op, used) || (is_exact(op, x, value, to) && !is_lost)};
}

ModelValue compute(uint16_t op, uint8_t from, uint8_t to, std::span<const ModelValue> in,
                   const ValueRules& rules = {}) {
  const ModelValue exact = compute_exact(op, from, to, in, rules);
  if (exact.known || rules.is_host || !rules.profile) return exact;
  return within(op, from, to, in, exact.bits, *rules.profile);
}

/// No order of the additions rounds.
bool adds_exactly(std::span<const ModelValue> lanes, uint8_t dtype) {
  double unit = HUGE_VAL;
  long double total = 0;  // f64 would round it before it is looked at
  for (const ModelValue& lane : lanes) {
    const double term = to_double(lane.bits, dtype);
    if (term == 0) continue;
    unit = std::min(unit, lowest_bit(term));
    total += std::fabs(static_cast<long double>(term));
  }
  if (total == 0) return true;
  const int digits = float_format(static_cast<DType>(dtype)).mantissa_bits + 1;
  return total <= std::ldexp(static_cast<long double>(unit), digits) &&
         std::isfinite(to_double(from_double(static_cast<double>(total), dtype), dtype));
}

}  // namespace

Specials kept_by(uint32_t numerics) {
  constexpr uint32_t kFlush = TN_NUMERICS_FLUSH_INPUT | TN_NUMERICS_FLUSH_OUTPUT;
  return {.nan = !(numerics & TN_NUMERICS_NO_NAN),
          .infinity = !(numerics & TN_NUMERICS_NO_INF),
          .subnormal = !(numerics & kFlush)};
}

ModelValue as_it_is(uint8_t dtype, uint64_t bits, const Specials& keeps) {
  return {bits, !sdk::is_float(dtype) || is_certain(to_double(bits, dtype), dtype, keeps)};
}

ModelValue elementwise(const sdk::ProgramView& program, const tn_op& op,
                       std::span<const ModelValue> operands, const ValueRules& rules) {
  if (op.op == TN_OP_WHERE) {
    const ModelValue& chosen = operands[operands[0].bits ? 1 : 2];
    return operands[0].known ? chosen : ModelValue{chosen.bits, false};
  }
  const uint8_t from = program.op(program.operands(op).back()).dtype;
  if (op.op == TN_OP_CAST && op.imm == TN_CAST_BITS) {
    if (rules.is_host) return operands[0];
    ModelValue out = as_it_is(op.dtype, operands[0].bits, rules.keeps);
    out.known = out.known && operands[0].known;
    // A zero may have either sign, a NaN any bits, and a bool has no other bits than 0 and 1.
    if (sdk::is_float(from) &&
        (to_double(out.bits, from) == 0 || std::isnan(to_double(out.bits, from))))
      out.known = false;
    if (op.dtype == TN_DTYPE_BOOL && out.bits > 1) out = {1, false};
    return out;
  }
  if (!rules.profile || !(op.flags & (TN_OP_APPROXIMATE | TN_OP_CONTRACT)))
    return compute(op.op, from, op.dtype, operands, rules);
  Profile profile = *rules.profile;
  if (op.flags & TN_OP_APPROXIMATE) profile.strict = false;
  if (op.flags & TN_OP_CONTRACT)
    return compute(op.op, from, op.dtype, operands, {.keeps = rules.keeps});
  return compute(op.op, from, op.dtype, operands, {false, rules.keeps, &profile});
}

ModelValue reduce_lanes(const tn_op& op, std::span<const ModelValue> lanes,
                        const ValueRules& rules) {
  const bool rounds = !rules.is_host && sdk::is_float(op.dtype) && op.imm != TN_OP_MAX;
  ModelValue out = lanes[0];
  for (size_t l = 1; l < lanes.size(); ++l) {
    const ModelValue pair[] = {out, lanes[l]};
    const ValueRules one_by_one = rounds ? ValueRules{.keeps = rules.keeps} : rules;
    out = compute(static_cast<uint16_t>(op.imm), op.dtype, op.dtype, pair, one_by_one);
  }
  if (!rounds) return out;
  out.known = out.known && op.imm == TN_OP_ADD && adds_exactly(lanes, op.dtype);
  if (out.known || !rules.profile) return {out.bits, out.known};
  std::vector<Interval> terms;
  for (const ModelValue& lane : lanes) terms.push_back(range_of(lane, op.dtype));
  const auto dtype = static_cast<DType>(op.dtype);
  const Interval all = op.imm == TN_OP_ADD ? reference::sum(terms, dtype, false, *rules.profile)
                                           : reference::product(terms, dtype, *rules.profile);
  return bounded(out.bits, all);
}

ModelValue dot_sum(const tn_op& op, const ModelValue& start, const DotTerms& terms,
                   const ValueRules& rules) {
  const bool is_float = sdk::is_float(op.dtype);
  bool known = start.known;
  uint64_t whole = start.bits;
  double sum = is_float ? to_double(start.bits, op.dtype) : 0;
  std::vector<double> magnitudes = {sum};
  for (size_t k = 0; k < terms.x.size(); ++k) {
    const ModelValue &x = terms.x[k], &y = terms.y[k];
    known = known && x.known && y.known;
    if (is_float) {
      const double a = to_double(x.bits, terms.x_dtype), b = to_double(y.bits, terms.y_dtype);
      // What a dot product flushes stands in its atom, not in the device's numerics.
      known = known && is_plain(a, terms.x_dtype) && is_plain(b, terms.y_dtype);
      magnitudes.push_back(a * b);
      sum += a * b;
    } else {
      whole += convert(x.bits, terms.x_dtype, TN_DTYPE_I64) *
               convert(y.bits, terms.y_dtype, TN_DTYPE_I64);
    }
  }
  if (!is_float) return {convert(whole, TN_DTYPE_I64, op.dtype), known};
  if (rules.is_host) return {from_double(sum, op.dtype), known};
  for (const double term : magnitudes)
    known = known && is_plain(term, op.dtype) &&
            to_double(from_double(term, op.dtype), op.dtype) == term;
  std::vector<ModelValue> products;
  for (const double term : magnitudes) products.push_back({from_double(term, op.dtype), true});
  known = known && adds_exactly(products, op.dtype);
  return {from_double(sum, op.dtype), known};
}

ModelValue after_atomic(const tn_op& op, const ModelValue& old, const ModelValue& value,
                        const ModelValue& wanted) {
  const auto combined = [&](uint16_t code) {
    const ModelValue pair[] = {old, value};
    ModelValue out = compute(code, op.dtype, op.dtype, pair);
    // MAX and MIN of zeros may be either.
    if (sdk::is_float(op.dtype) && code != TN_OP_ADD && to_double(out.bits, op.dtype) == 0)
      out.known = false;
    return out;
  };
  switch (op.imm & 0xff) {
    case TN_ATOMIC_ADD:
      return combined(TN_OP_ADD);
    case TN_ATOMIC_MIN:
      return combined(TN_OP_MIN);
    case TN_ATOMIC_MAX:
      return combined(TN_OP_MAX);
    case TN_ATOMIC_EXCHANGE:
      return value;
    case TN_ATOMIC_COMPARE_EXCHANGE: {
      ModelValue out = old.bits == wanted.bits ? value : old;
      out.known = old.known && value.known && wanted.known && !sdk::is_float(op.dtype);
      return out;
    }
    default:
      fail(ErrorKind::kInvalid, "[program] atomic {} is not modelled", op.imm & 0xff);
  }
}

bool accepts(uint8_t dtype, const ModelValue& value, uint64_t bits, bool signed_zeros) {
  if (value.known) return agree(dtype, value.bits, bits, signed_zeros);
  if (!value.is_bounded) return true;
  const double got = to_double(bits, dtype);
  if (std::isnan(got)) return value.range.nan;
  return value.range.low <= got && got <= value.range.high;
}

bool agree(uint8_t dtype, uint64_t a, uint64_t b, bool signed_zeros) {
  if (a == b) return true;
  if (sdk::is_float(dtype) && std::isnan(to_double(a, dtype)))
    return std::isnan(to_double(b, dtype));
  return !signed_zeros && sdk::is_float(dtype) && to_double(a, dtype) == 0 &&
         to_double(b, dtype) == 0;
}

}  // namespace tenon::conformance::abi::programs
