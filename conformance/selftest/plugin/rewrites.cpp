// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Peephole rewrites that are wrong for some operands: what an optimiser takes an idiom for.
#include <bit>
#include <limits>

#include "conformance/selftest/plugin/index_form.hpp"
#include "conformance/selftest/plugin/rewrites.hpp"
#include "sdk/program/dtype_info.hpp"
#include "tenon/program.h"

namespace tenon::planted {
namespace {

using Function = sdk::ScalarFunction;

uint64_t first(uint64_t a, uint64_t, uint64_t) { return a; }
uint64_t nothing(uint64_t, uint64_t, uint64_t) { return 0; }

/// Looks at steps by what they are made of.
struct Peephole {
  Code& code;
  Step& step;

  const Step& operand(size_t k) const { return code.steps[step.operands[k]]; }
  const Step& of(const Step& s, size_t k) const { return code.steps[s.operands[k]]; }
  bool is_constant(uint32_t value) const { return code.steps[value].op == TN_OP_CONST; }
  bool are_equal(uint32_t a, uint32_t b) const {
    return a == b || (is_constant(a) && is_constant(b) && code.steps[a].imm == code.steps[b].imm &&
                      code.steps[a].dtype == code.steps[b].dtype);
  }
  bool is_whole() const { return sdk::is_integer(step.dtype); }
  bool is_float() const { return sdk::is_float(step.dtype); }
  uint64_t constant(size_t k) const { return operand(k).imm; }
  unsigned bits() const { return 8u * sdk::dtype_bytes(step.dtype); }

  /// The step gives that value, or what the function makes of these.
  void become(Function function, std::vector<uint32_t> operands) const {
    step.op = TN_OP_MAX;  // of one value and whatever function
    step.function = function;
    step.operands = std::move(operands);
  }
  void become(uint32_t value) const { become(first, {value}); }
  void become_op(uint16_t op, uint8_t from, std::vector<uint32_t> operands) const {
    become(sdk::scalar_function(op, from, step.dtype), std::move(operands));
  }
};

/// op(inner(x, c), c) for x.
void cancel(const Peephole& p, uint16_t outer, uint16_t inner, bool is_signed) {
  if (p.step.op != outer || p.operand(0).op != inner || !p.is_constant(p.step.operands[1])) return;
  if (sdk::is_signed(p.step.dtype) != is_signed && inner == TN_OP_SHL) return;
  if (p.are_equal(p.operand(0).operands[1], p.step.operands[1])) p.become(p.operand(0).operands[0]);
}

bool is_power(uint64_t value) { return value > 1 && std::has_single_bit(value); }

void shift_sum(const Peephole& p) {
  if (p.step.op != TN_OP_SHL || p.operand(0).op != TN_OP_SHL) return;
  const uint32_t a = p.operand(0).operands[1], b = p.step.operands[1];
  if (!p.is_constant(a) || !p.is_constant(b)) return;
  const uint64_t sum = (p.code.steps[a].imm + p.code.steps[b].imm) % p.bits();
  Step& by = p.code.steps[b];
  const uint32_t x = p.operand(0).operands[0];
  if (by.imm == 0) return;
  by.imm = sum;
  p.step.operands[0] = x;
}

void power_of_signed(const Peephole& p, bool is_mod) {
  if (p.step.op != (is_mod ? TN_OP_MOD : TN_OP_IDIV) || !sdk::is_signed(p.step.dtype)) return;
  if (!p.is_constant(p.step.operands[1]) || !is_power(p.constant(1))) return;
  Step& by = p.code.steps[p.step.operands[1]];
  if (std::countr_zero(by.imm) >= static_cast<int>(p.bits()) - 1) return;
  const uint16_t op = is_mod ? TN_OP_AND : TN_OP_SHR;
  by.imm = is_mod ? by.imm - 1 : static_cast<uint64_t>(std::countr_zero(by.imm));
  p.become_op(op, p.step.dtype, p.step.operands);
}

void large_division(const Peephole& p) {
  if (p.step.op != TN_OP_IDIV || sdk::is_signed(p.step.dtype)) return;
  if (p.is_constant(p.step.operands[1]) && p.constant(1) >> (p.bits() - 1))
    p.become(nothing, p.step.operands);
}

template <class T>
uint64_t not_greater(uint64_t a, uint64_t b, uint64_t) {
  using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  return std::bit_cast<T>(static_cast<Word>(b)) <= std::bit_cast<T>(static_cast<Word>(a));
}

/// !(x < y) for y <= x.
void negated_less(const Peephole& p) {
  if (p.step.op != TN_OP_XOR || p.step.dtype != TN_DTYPE_BOOL || p.operand(0).op != TN_OP_CMPLT ||
      !p.is_constant(p.step.operands[1]) || !p.constant(1))
    return;
  const uint8_t from = p.of(p.operand(0), 0).dtype;
  if (from == TN_DTYPE_F32) p.become(not_greater<float>, p.operand(0).operands);
  if (from == TN_DTYPE_F64) p.become(not_greater<double>, p.operand(0).operands);
}

void select_to_max(const Peephole& p) {
  if (p.step.op != TN_OP_WHERE || !p.is_float() || p.operand(0).op != TN_OP_CMPLT) return;
  const auto& compared = p.operand(0).operands;
  if (p.step.operands[1] == compared[1] && p.step.operands[2] == compared[0])
    p.become_op(TN_OP_MAX, p.step.dtype, compared);
}

/// A widened value against a constant that is cut to the narrow dtype.
void narrow_comparison(const Peephole& p) {
  const bool compares = p.step.op == TN_OP_CMPLT || p.step.op == TN_OP_CMPEQ;
  if (!compares || p.operand(0).op != TN_OP_CAST || !p.is_constant(p.step.operands[1])) return;
  const Step& x = p.of(p.operand(0), 0);
  const uint8_t wide = p.operand(0).dtype;
  if (!sdk::is_integer(x.dtype) || !sdk::is_integer(wide) || x.bytes >= p.operand(0).bytes) return;
  Step& constant = p.code.steps[p.step.operands[1]];
  constant.imm = sdk::convert(sdk::convert(constant.imm, wide, x.dtype), x.dtype, wide);
}

void signed_comparison(const Peephole& p) {
  if (p.step.op != TN_OP_CMPLT || p.operand(0).op != TN_OP_CAST) return;
  const uint8_t to = p.operand(0).dtype, from = p.of(p.operand(0), 0).dtype;
  const bool is_turned = sdk::is_integer(from) && sdk::is_integer(to) &&
                         sdk::dtype_bytes(from) == sdk::dtype_bytes(to) && from != to;
  if (is_turned) p.become(sdk::scalar_function(TN_OP_CMPLT, from, TN_DTYPE_BOOL), p.step.operands);
}

/// cast(cast(x)) of x's own dtype.
void cast_back(const Peephole& p, bool through_int) {
  if (p.step.op != TN_OP_CAST || p.operand(0).op != TN_OP_CAST) return;
  const uint32_t x = p.operand(0).operands[0];
  if (p.code.steps[x].dtype != p.step.dtype) return;
  const bool is_int = p.is_float() && sdk::is_integer(p.operand(0).dtype);
  const bool is_narrow = sdk::is_integer(p.step.dtype) && sdk::is_integer(p.operand(0).dtype) &&
                         p.operand(0).bytes < p.step.bytes;
  if (through_int && is_int && p.operand(0).imm == TN_CAST_VALUE)
    p.become_op(TN_OP_TRUNC, p.step.dtype, {x});
  if (!through_int && is_narrow) p.become(x);
}

bool is_zero(const Peephole& p, size_t k) {
  return p.is_constant(p.step.operands[k]) && p.constant(k) == 0;
}

struct Rewrite {
  Variant variant;
  void (*apply)(const Peephole&);
};
constexpr Rewrite kRewrites[] = {
    {Variant::shr_shl_cancel, [](const Peephole& p) { cancel(p, TN_OP_SHL, TN_OP_SHR, false); }},
    {Variant::shl_shr_cancel, [](const Peephole& p) { cancel(p, TN_OP_SHR, TN_OP_SHL, true); }},
    {Variant::mul_div_cancel, [](const Peephole& p) { cancel(p, TN_OP_IDIV, TN_OP_MUL, false); }},
    {Variant::shl_shl_wraps, shift_sum},
    {Variant::mod_power_and, [](const Peephole& p) { power_of_signed(p, true); }},
    {Variant::div_power_shr, [](const Peephole& p) { power_of_signed(p, false); }},
    {Variant::div_large_zero, large_division},
    {Variant::div_self_one,
     [](const Peephole& p) {
       if (p.step.op == TN_OP_IDIV && p.step.operands[0] == p.step.operands[1])
         p.become([](uint64_t, uint64_t, uint64_t) { return uint64_t{1}; }, p.step.operands);
     }},
    {Variant::not_less_nan, negated_less},
    {Variant::select_is_max, select_to_max},
    {Variant::wide_constant_cut, narrow_comparison},
    {Variant::compare_by_source, signed_comparison},
    {Variant::narrow_back, [](const Peephole& p) { cast_back(p, false); }},
    {Variant::int_back_trunc, [](const Peephole& p) { cast_back(p, true); }},
    {Variant::self_differs_never,
     [](const Peephole& p) {
       if (p.step.op == TN_OP_CMPNE && p.step.operands[0] == p.step.operands[1])
         p.become(nothing, p.step.operands);
     }},
    {Variant::sub_self_zero,
     [](const Peephole& p) {
       if (p.step.op == TN_OP_SUB && p.is_float() && p.step.operands[0] == p.step.operands[1])
         p.become(nothing, p.step.operands);
     }},
    {Variant::mul_zero_zero,
     [](const Peephole& p) {
       if (p.step.op == TN_OP_MUL && p.is_float() && is_zero(p, 1))
         p.become(nothing, p.step.operands);
     }},
    {Variant::add_zero_same,
     [](const Peephole& p) {
       if (p.step.op == TN_OP_ADD && p.is_float() && is_zero(p, 1)) p.become(p.step.operands[0]);
     }},
};

}  // namespace

void rewrite(Code& code) {
  for (const Rewrite& row : kRewrites) {
    if (row.variant != code.variant) continue;
    for (Step& step : code.steps) row.apply({code, step});
  }
}

}  // namespace tenon::planted
