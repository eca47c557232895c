// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers and bools mean something for all bits, so any op on them will do. Floats stay within
// what their dtype holds exactly.
#include "conformance/cases/abi/program_pool.hpp"
#include "conformance/cases/abi/scalars.hpp"
#include "conformance/cases/dtype_pool.hpp"

#include <algorithm>
#include <cmath>

#include "sdk/program/op_info.hpp"

namespace tenon::conformance::abi {
namespace {

constexpr tn_dtype kPlain[] = {TN_DTYPE_I32, TN_DTYPE_F32, TN_DTYPE_U32};
const std::vector<DType>& each_dtype() {
  using enum DType;
  static const auto pool = dtype_pool({kI32, kU32, kF32, kI64, kU8}, [](DType) { return true; });
  return pool;
}
constexpr tn_opcode kVectorHints[] = {TN_OP_EXTRACT, TN_OP_COMPOSE, TN_OP_LANE_REDUCE};
constexpr uint16_t kLanes[] = {4, 2, 8, 3, 16};
constexpr int64_t kNumbers[] = {0, 1, 2, -1, 3, 7, -2, 31, 32, 64, -8, 127, 255};

bool is_float_type(tn_dtype dtype) { return sdk::is_float(static_cast<uint8_t>(dtype)); }
bool holds(tn_dtype dtype, const Exact& exact) {
  return abi::holds(static_cast<uint8_t>(dtype), exact);
}
bool within(const Exact& a, const Exact& b) { return a.bound <= b.bound && a.unit <= b.unit; }
/// Elementwise, without a conversion or choice, and right to the last bit on every backend.
bool is_exact(const sdk::OpInfo& op) {
  using sdk::OpFamily;
  constexpr OpFamily kExact[] = {OpFamily::SUM,   OpFamily::PRODUCT,  OpFamily::EXTREME,
                                 OpFamily::ORDER, OpFamily::SIGN,     OpFamily::WHOLE,
                                 OpFamily::SHIFT, OpFamily::DIVISION, OpFamily::BITWISE};
  return sdk::is_elementwise(op) && std::ranges::find(kExact, op.family) != std::end(kExact);
}
bool is_optional(const sdk::OpInfo& op) { return op.flags & sdk::kOpOptional; }
Exact joined(const Exact& a, const Exact& b) {
  return {std::max(a.bound, b.bound), std::max(a.unit, b.unit)};
}

}  // namespace

bool Palette::has_optional(tn_opcode op) const {
  return std::ranges::find(optional_ops, op) != optional_ops.end();
}

Palette draw_palette(Choices& choices) {
  const Choices::Scope scope(choices, Part::kDType);
  Palette out;
  const bool is_wide = choices.chance(55);
  const int64_t count = choices.between(1, 3);
  for (int64_t i = 0; i < count; ++i) {
    const tn_dtype dtype =
        is_wide ? static_cast<tn_dtype>(choices.pick(each_dtype())) : choices.pick(kPlain);
    if (std::ranges::find(out.dtypes, dtype) == out.dtypes.end()) out.dtypes.push_back(dtype);
  }
  if (choices.chance(60))
    for (const sdk::OpInfo& op : sdk::all_ops())
      if (is_exact(op) && is_optional(op) && choices.chance(50))
        out.optional_ops.push_back(static_cast<tn_opcode>(op.op));
  out.narrow_floats = is_wide && choices.chance(35);
  if (is_wide && choices.chance(35)) out.index = TN_DTYPE_I64;
  if (choices.chance(35)) {
    out.lanes = choices.pick(kLanes);
    for (const tn_opcode op : kVectorHints)
      if (choices.chance(60)) out.optional_ops.push_back(op);
  }
  return out;
}

ProgramValue ProgramPool::op(tn_opcode op, tn_dtype dtype, std::vector<ProgramValue> operands,
                             Exact exact, uint64_t imm, uint32_t flags) {
  std::vector<uint32_t> ids;
  for (const ProgramValue& operand : operands) ids.push_back(operand.id);
  const uint16_t lanes = operands.empty() ? uint16_t{1} : operands.back().lanes;
  // What is exact stays so; what rounds is not known here anyway.
  if (sdk::is_float(uint8_t(dtype)) && sdk::is_elementwise(*sdk::op_info(op)) && choices_.chance(8))
    flags |= TN_OP_APPROXIMATE;
  return {builder_.op(op, dtype, lanes, ids, imm, flags), dtype, lanes, exact};
}

ProgramValue ProgramPool::number(tn_dtype dtype, int64_t value, uint16_t lanes) {
  const uint64_t bits =
      convert(static_cast<uint64_t>(value), TN_DTYPE_I64, static_cast<uint8_t>(dtype));
  return {builder_.constant(dtype, bits, lanes),
          dtype,
          lanes,
          {std::fabs(static_cast<double>(value)), 0}};
}

ProgramValue ProgramPool::constant(tn_dtype dtype, uint16_t lanes) {
  if (dtype == TN_DTYPE_BOOL) return number(dtype, choices_.between(0, 1), lanes);
  if (is_float_type(dtype)) {
    const Exact exact = input_exact(static_cast<uint8_t>(dtype));
    const auto most = static_cast<int64_t>(std::ldexp(exact.bound, exact.unit));
    const int64_t drawn = choices_.between(0, 2 * most);  // 0, 1, -1, 2, ...
    const int64_t steps = (drawn + 1) / 2;
    const double value = std::ldexp(static_cast<double>(steps), -exact.unit) * (drawn % 2 ? 1 : -1);
    const uint64_t bits = from_double(value, static_cast<uint8_t>(dtype));
    return {builder_.constant(dtype, bits, lanes), dtype, lanes, {std::fabs(value), exact.unit}};
  }
  if (!choices_.chance(25)) return number(dtype, choices_.pick(kNumbers), lanes);
  // Bits anywhere, the high half too, or one below or above a power of two.
  if (choices_.chance(50)) return number(dtype, static_cast<int64_t>(choices_.bits()), lanes);
  const uint64_t power = uint64_t{1} << choices_.below(64);
  const auto near = static_cast<uint64_t>(choices_.between(-1, 1));
  return number(dtype, static_cast<int64_t>(power + near), lanes);
}

ProgramValue ProgramPool::any(tn_dtype dtype, uint16_t lanes) {
  return fitting(dtype, lanes, {HUGE_VAL, 64});
}

ProgramValue ProgramPool::fitting(tn_dtype dtype, uint16_t lanes, const Exact& exact) {
  std::vector<ProgramValue> found;
  for (const ProgramValue& value : values_)
    if (value.dtype == dtype && value.lanes == lanes &&
        (!is_float_type(dtype) || within(value.exact, exact)))
      found.push_back(value);
  if (!found.empty() && !choices_.chance(12))
    return found[found.size() - 1 - choices_.below(found.size())];
  if (lanes > 1 && choices_.chance(60)) {
    const ProgramValue from = fitting(dtype, 1, exact);
    return {builder_.op(TN_OP_BROADCAST, dtype, lanes, {from.id}), dtype, lanes, from.exact};
  }
  const ProgramValue made = constant(dtype, lanes);
  if (is_float_type(dtype) && !within(made.exact, exact)) return number(dtype, 0, lanes);
  return made;
}

bool ProgramPool::computes(tn_dtype dtype) const {
  return !is_float_type(dtype) || sdk::dtype_bytes(static_cast<uint8_t>(dtype)) >= 4 ||
         palette_.narrow_floats;
}

ProgramValue ProgramPool::all(tn_dtype dtype, uint16_t lanes, const Exact& exact) {
  constexpr int kMost = 8;
  const auto first = fitting(dtype, lanes, exact);
  ProgramValue out = first;
  int left = static_cast<int>(choices_.below(kMost));
  for (size_t i = values_.size(); i-- > 0 && left > 0 && computes(dtype);) {
    const ProgramValue& value = values_[i];
    if (value.dtype != dtype || value.lanes != lanes || value.id == first.id) continue;
    const Exact sum{out.exact.bound + value.exact.bound,
                    std::max(out.exact.unit, value.exact.unit)};
    if (is_float_type(dtype) && !(holds(dtype, sum) && within(sum, exact))) continue;
    out = op(dtype == TN_DTYPE_BOOL ? TN_OP_XOR : TN_OP_ADD, dtype, {out, value}, sum);
    --left;
  }
  return out;
}

tn_dtype ProgramPool::any_dtype() {
  return choices_.chance(20) ? TN_DTYPE_BOOL : choices_.pick(palette_.dtypes);
}

uint16_t ProgramPool::any_lanes() {
  return palette_.lanes > 1 && choices_.chance(45) ? palette_.lanes : uint16_t{1};
}

ProgramValue ProgramPool::below(ProgramValue value, int64_t count) {
  return op(TN_OP_AND, value.dtype, {value, number(value.dtype, count - 1, value.lanes)});
}

ProgramValue ProgramPool::spread(const ProgramValue& first, uint16_t lanes, int64_t step) {
  const tn_dtype dtype = palette_.index;
  const ProgramValue lane{builder_.index(TN_AXIS_LANE, dtype, lanes), dtype, lanes};
  const ProgramValue far = op(TN_OP_MUL, dtype, {lane, number(dtype, step, lanes)});
  const ProgramValue all{builder_.op(TN_OP_BROADCAST, dtype, lanes, {first.id}), dtype, lanes};
  return op(TN_OP_ADD, dtype, {all, far});
}

ProgramValue ProgramPool::any_gather() {
  const tn_dtype dtype = palette_.index;
  const uint16_t lanes = palette_.lanes;
  const int64_t way = choices_.between(0, 3);
  if (way == 0) return any(dtype, lanes);
  if (way < 3) return spread(any(dtype, 1), lanes, way == 1 ? 1 : choices_.between(-3, 3));
  const ProgramValue lane{builder_.index(TN_AXIS_LANE, dtype, lanes), dtype, lanes};
  return op(TN_OP_MUL, dtype, {lane, lane});  // the first two are in a row
}

ProgramValue ProgramPool::any_mask(uint16_t lanes) {
  if (lanes == 1 || choices_.chance(30)) return any(TN_DTYPE_BOOL, 1);
  if (choices_.chance(40)) return any(TN_DTYPE_BOOL, lanes);
  const tn_dtype dtype = palette_.index;
  const ProgramValue lane{builder_.index(TN_AXIS_LANE, dtype, lanes), dtype, lanes};
  const ProgramValue end = number(dtype, choices_.between(0, lanes), lanes);
  if (choices_.chance(40)) return op(TN_OP_CMPNE, TN_DTYPE_BOOL, {lane, end});
  if (choices_.chance(40)) return op(TN_OP_CMPLT, TN_DTYPE_BOOL, {end, lane});
  return op(TN_OP_CMPLT, TN_DTYPE_BOOL, {lane, end});
}

ProgramValue ProgramPool::with(bool compares, tn_dtype dtype, const ProgramValue& x,
                               const ProgramValue& y) {
  std::vector<tn_opcode> all;
  for (const sdk::OpInfo& op : sdk::all_ops()) {
    const auto code = static_cast<tn_opcode>(op.op);
    if (is_exact(op) && op.arity <= 2 && (op.kind == sdk::OpKind::COMPARE) == compares &&
        sdk::takes(op.types, static_cast<uint8_t>(x.dtype)) &&
        (!is_optional(op) || palette_.has_optional(code)))
      all.push_back(code);
  }
  const tn_opcode code = choices_.pick(all);
  return sdk::op_info(code)->arity == 1 ? op(code, dtype, {x}) : op(code, dtype, {x, y});
}

ProgramValue ProgramPool::grow() {
  const Choices::Scope scope(choices_, Part::kNode);
  const tn_dtype dtype = any_dtype();
  const uint16_t lanes = any_lanes();
  const ProgramValue made = [&] {
    const int64_t way = choices_.between(0, 19);
    if (way >= 18 && palette_.lanes > 1) return grow_moved(dtype, lanes);
    if (way == 17) return grow_bits(dtype, lanes);
    if (way >= 15) return grow_cast(dtype, lanes);
    if (way >= 13) return grow_where(dtype, lanes);
    if (dtype == TN_DTYPE_BOOL) return grow_bool(lanes);
    return is_float_type(dtype) ? grow_float(dtype, lanes) : grow_integer(dtype, lanes);
  }();
  add(made);
  return made;
}

ProgramValue ProgramPool::grow_bool(uint16_t lanes) {
  if (choices_.chance(70)) {
    tn_dtype dtype = any_dtype();
    if (!computes(dtype)) dtype = TN_DTYPE_BOOL;
    const ProgramValue x = any(dtype, lanes), y = any(dtype, lanes);
    return with(true, TN_DTYPE_BOOL, x, y);
  }
  const ProgramValue x = any(TN_DTYPE_BOOL, lanes), y = any(TN_DTYPE_BOOL, lanes);
  return with(false, TN_DTYPE_BOOL, x, y);
}

ProgramValue ProgramPool::grow_integer(tn_dtype dtype, uint16_t lanes) {
  const ProgramValue x = any(dtype, lanes), y = any(dtype, lanes);
  return with(false, dtype, x, y);
}

ProgramValue ProgramPool::grow_float(tn_dtype dtype, uint16_t lanes) {
  if (!computes(dtype)) return grow_where(dtype, lanes);
  const ProgramValue x = any(dtype, lanes), y = any(dtype, lanes);
  const Exact sum{x.exact.bound + y.exact.bound, std::max(x.exact.unit, y.exact.unit)};
  const Exact product{x.exact.bound * y.exact.bound, x.exact.unit + y.exact.unit};
  // Fused or not, the product must be exact too.
  const Exact both{product.bound + y.exact.bound, std::max(product.unit, y.exact.unit)};
  const auto exact_of = [&](const sdk::OpInfo& row) -> Exact {
    using enum sdk::OpFamily;
    if (row.family == SUM) return row.arity == 3 ? both : sum;
    if (row.family == PRODUCT) return product;
    if (row.family == EXTREME) return joined(x.exact, y.exact);
    if (row.family == WHOLE) return {std::ceil(x.exact.bound), 0};
    return x.exact;  // SIGN
  };
  std::vector<std::pair<tn_opcode, Exact>> ways;
  for (const sdk::OpInfo& row : sdk::all_ops()) {
    const auto code = static_cast<tn_opcode>(row.op);
    if (!is_exact(row) || row.family == sdk::OpFamily::ORDER ||
        !sdk::takes(row.types, uint8_t(dtype)))
      continue;
    const bool is_there = !is_optional(row) || palette_.has_optional(code);
    // An extreme is one of its operands, whatever they are: so there is always a way.
    const bool is_held = row.family == sdk::OpFamily::EXTREME || holds(dtype, exact_of(row));
    if (is_there && is_held) ways.emplace_back(code, exact_of(row));
  }
  const auto [code, exact] = choices_.pick(ways);
  const int arity = sdk::op_info(code)->arity;
  if (arity == 1) return op(code, dtype, {x}, exact);
  if (arity == 3) return op(code, dtype, {x, y, y}, exact);
  return op(code, dtype, {x, y}, exact);
}

ProgramValue ProgramPool::grow_cast(tn_dtype dtype, uint16_t lanes) {
  tn_dtype from = any_dtype();
  ProgramValue x = any(from, lanes);
  if (!is_float_type(dtype)) return op(TN_OP_CAST, dtype, {x});
  if (!is_float_type(from)) {
    // Few enough to be exact.
    if (from != TN_DTYPE_BOOL) x = below(x, 8);
    x.exact = {from == TN_DTYPE_BOOL ? 1.0 : 7.0, 0};
  }
  if (!holds(dtype, x.exact)) return constant(dtype, lanes);
  return op(TN_OP_CAST, dtype, {x}, x.exact);
}

/// Dtypes of one size. A float's bits are those of a number from 1 on: neither zero, nor NaN.
ProgramValue ProgramPool::grow_bits(tn_dtype dtype, uint16_t lanes) {
  if (is_float_type(dtype)) return grow_float(dtype, lanes);
  std::vector<tn_dtype> fit = {dtype};
  for (const tn_dtype other : palette_.dtypes)
    if (other != dtype && (dtype != TN_DTYPE_BOOL || !is_float_type(other)) &&
        sdk::dtype_bytes(static_cast<uint8_t>(other)) ==
            sdk::dtype_bytes(static_cast<uint8_t>(dtype)))
      fit.push_back(other);
  tn_dtype from = choices_.pick(fit);
  if (!computes(from)) from = dtype;
  ProgramValue x = any(from, lanes);
  if (is_float_type(from)) x = op(TN_OP_MAX, from, {x, number(from, 1, lanes)});
  if (dtype == TN_DTYPE_BOOL && from != TN_DTYPE_BOOL) x = below(x, 2);  // a bool is 0 or 1
  return op(TN_OP_CAST, dtype, {x}, {}, TN_CAST_BITS);
}

ProgramValue ProgramPool::grow_where(tn_dtype dtype, uint16_t lanes) {
  const ProgramValue c = any(TN_DTYPE_BOOL, lanes), x = any(dtype, lanes), y = any(dtype, lanes);
  return op(TN_OP_WHERE, dtype, {c, x, y}, joined(x.exact, y.exact));
}

/// Between scalars and vectors.
ProgramValue ProgramPool::grow_moved(tn_dtype dtype, uint16_t lanes) {
  const uint16_t wide = palette_.lanes;
  if (lanes == 1) {
    const ProgramValue from = any(dtype, wide);
    const bool reduces = palette_.has_optional(TN_OP_LANE_REDUCE) && computes(dtype);
    const auto scalar = [&](tn_opcode code, uint64_t imm, const Exact& exact) {
      return ProgramValue{builder_.op(code, dtype, 1, {from.id}, imm), dtype, 1, exact};
    };
    if (reduces && choices_.chance(50)) {
      if (!is_float_type(dtype)) {
        constexpr tn_opcode kWays[] = {TN_OP_ADD, TN_OP_MAX, TN_OP_MUL};
        return scalar(TN_OP_LANE_REDUCE, choices_.pick(kWays), {});
      }
      const Exact sum{from.exact.bound * wide, from.exact.unit};
      const bool adds = holds(dtype, sum) && choices_.chance(50);
      return scalar(TN_OP_LANE_REDUCE, adds ? TN_OP_ADD : TN_OP_MAX, adds ? sum : from.exact);
    }
    if (palette_.has_optional(TN_OP_EXTRACT))
      return scalar(TN_OP_EXTRACT, choices_.below(wide), from.exact);
    return grow_where(dtype, lanes);
  }
  if (palette_.has_optional(TN_OP_COMPOSE) && choices_.chance(50)) {
    std::vector<uint32_t> parts;
    Exact exact;
    for (uint16_t l = 0; l < wide; ++l) {
      const ProgramValue part = any(dtype, 1);
      parts.push_back(part.id);
      exact = joined(exact, part.exact);
    }
    return {builder_.op(TN_OP_COMPOSE, dtype, wide, parts), dtype, wide, exact};
  }
  const ProgramValue from = any(dtype, 1);
  return {builder_.op(TN_OP_BROADCAST, dtype, wide, {from.id}), dtype, wide, from.exact};
}

ProgramValue ProgramPool::goes_on(const ProgramValue& counter) {
  if (choices_.chance(50)) return any(TN_DTYPE_BOOL, 1);
  return op(TN_OP_CMPLT, TN_DTYPE_BOOL, {counter, any(counter.dtype, 1)});
}

ProgramValue ProgramPool::next(const ProgramValue& carry) {
  if (!is_float_type(carry.dtype)) {
    if (choices_.chance(50)) return any(carry.dtype, carry.lanes);
    const ProgramValue term = any(carry.dtype, carry.lanes);
    return op(TN_OP_ADD, carry.dtype, {carry, term});
  }
  const ProgramValue term = fitting(carry.dtype, carry.lanes, carry.exact);
  const Exact sum{2 * carry.exact.bound, carry.exact.unit};
  if (choices_.chance(50) || !computes(carry.dtype) || !holds(carry.dtype, sum)) return term;
  const auto limit = static_cast<int64_t>(carry.exact.bound);
  const ProgramValue next = op(TN_OP_ADD, carry.dtype, {carry, term}, sum);
  const auto less = [&](const ProgramValue& x, const ProgramValue& y) {
    return op(TN_OP_CMPLT, TN_DTYPE_BOOL, {x, y});
  };
  const ProgramValue low = number(carry.dtype, -limit, carry.lanes);
  const ProgramValue high = number(carry.dtype, limit, carry.lanes);
  const ProgramValue is_within = op(TN_OP_AND, TN_DTYPE_BOOL, {less(low, next), less(next, high)});
  return op(TN_OP_WHERE, carry.dtype, {is_within, next, carry}, carry.exact);
}

}  // namespace tenon::conformance::abi
