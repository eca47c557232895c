// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Peephole rewrites that are wrong for some operands: what an optimiser takes an idiom for.
#include <bit>
#include <cmath>
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

// ---- One op of another -------------------------------------------------------------------------

/// (x >> k) & mask, unsigned.
void unsigned_field(const Peephole& p) {
  if (p.step.op != TN_OP_AND || p.step.dtype != TN_DTYPE_I32 || p.operand(0).op != TN_OP_SHR)
    return;
  const uint32_t count = p.operand(0).operands[1], mask = p.step.operands[1];
  if (!p.is_constant(count) || !p.is_constant(mask) || p.code.steps[count].imm >= p.bits() ||
      !std::has_single_bit(p.constant(1) + 1))
    return;
  p.become(
      [](uint64_t x, uint64_t k, uint64_t bits) { return (static_cast<uint32_t>(x) >> k) & bits; },
      {p.operand(0).operands[0], count, mask});
}

int64_t of_i32(uint64_t bits) { return static_cast<int32_t>(bits); }

void wide_shift(const Peephole& p) {
  if (p.step.op != TN_OP_CAST || p.step.dtype != TN_DTYPE_I64 || p.operand(0).op != TN_OP_SHL ||
      p.operand(0).dtype != TN_DTYPE_I32)
    return;
  const uint32_t count = p.operand(0).operands[1];
  if (p.is_constant(count) && p.code.steps[count].imm == 31)
    p.become([](uint64_t x, uint64_t,
                uint64_t) { return static_cast<uint64_t>(of_i32(x) * -(int64_t{1} << 31)); },
             {p.operand(0).operands[0]});
}

bool was_narrow_signed(const Peephole& p, size_t k) {
  if (p.operand(k).op != TN_OP_CAST) return false;
  const uint8_t from = p.of(p.operand(k), 0).dtype;
  return from == TN_DTYPE_I8 || from == TN_DTYPE_I16;
}

void short_division(const Peephole& p) {
  if (p.step.op != TN_OP_IDIV || p.step.dtype != TN_DTYPE_U32 || !was_narrow_signed(p, 0) ||
      !was_narrow_signed(p, 1))
    return;
  p.become(
      [](uint64_t a, uint64_t b, uint64_t) {
        constexpr uint64_t kLow = 0xffffff;
        return b & kLow ? (a & kLow) / (b & kLow) : 0;
      },
      p.step.operands);
}

bool is_masked(const Peephole& p, size_t k) {
  if (p.operand(k).op != TN_OP_CAST || p.of(p.operand(k), 0).op != TN_OP_AND) return false;
  const Step& masked = p.of(p.operand(k), 0);
  return masked.dtype == TN_DTYPE_U32 && p.is_constant(masked.operands[1]) &&
         p.of(masked, 1).imm <= 0xffffff;
}

void short_product(const Peephole& p) {
  if (p.step.op == TN_OP_MUL && p.step.dtype == TN_DTYPE_U64 && is_masked(p, 0) && is_masked(p, 1))
    p.become([](uint64_t a, uint64_t b, uint64_t) { return a * b & UINT32_MAX; }, p.step.operands);
}

void negated_quotient(const Peephole& p) {
  if (p.step.op != TN_OP_NEG || p.operand(0).op != TN_OP_IDIV) return;
  const Step& quotient = p.operand(0);
  if (p.of(quotient, 0).op == TN_OP_NEG)
    p.become_op(TN_OP_IDIV, p.step.dtype, {p.of(quotient, 0).operands[0], quotient.operands[1]});
}

void fuse_difference(const Peephole& p) {
  if (p.step.op != TN_OP_SUB || p.step.dtype != TN_DTYPE_F64 || p.operand(1).op != TN_OP_MUL)
    return;
  const auto& factors = p.operand(1).operands;
  p.become(
      [](uint64_t x, uint64_t y, uint64_t z) {
        const auto number = [](uint64_t bits) { return std::bit_cast<double>(bits); };
        return std::bit_cast<uint64_t>(std::fma(-number(x), number(y), number(z)));
      },
      {factors[0], factors[1], p.step.operands[0]});
}

void choose_in_halves(const Peephole& p) {
  const bool compares = p.step.op == TN_OP_WHERE && p.operand(0).operands.size() == 2;
  if (compares && p.step.lanes % 16 == 0 && p.step.bytes == 1 && p.of(p.operand(0), 0).bytes == 8)
    p.step.quirk = Quirk::mask_in_halves;
}

void short_variable(const Peephole& p) {
  if (p.step.op != TN_OP_MUL || p.step.dtype != TN_DTYPE_I64 || p.operand(0).op != TN_OP_CAST ||
      p.of(p.operand(0), 0).op != TN_OP_LOOP || !p.is_constant(p.step.operands[1]))
    return;
  p.become([](uint64_t a, uint64_t b, uint64_t) { return static_cast<uint64_t>(of_i32(a * b)); },
           p.step.operands);
}

bool is_within(const Peephole& p, uint16_t region) {
  const auto at = static_cast<uint32_t>(&p.step - p.code.steps.data());
  for (uint32_t i = 0; i < at; ++i)
    if (p.code.steps[i].op == region && p.code.steps[i].closes > at) return true;
  return false;
}

void max_of_difference(const Peephole& p) {
  if (p.step.op != TN_OP_MAX || p.step.operands.size() != 2 || p.operand(0).op != TN_OP_SUB) return;
  if (p.step.dtype == TN_DTYPE_U8) p.become_op(TN_OP_MAX, TN_DTYPE_I8, p.step.operands);
  if (p.step.dtype == TN_DTYPE_U16) p.become_op(TN_OP_MAX, TN_DTYPE_I16, p.step.operands);
}

/// A where whose function sees the narrow bits alone.
void widen_where(const Peephole& p) {
  if (p.step.op != TN_OP_CAST || p.operand(0).op != TN_OP_WHERE ||
      p.operand(0).dtype != TN_DTYPE_I8)
    return;
  if (sdk::is_integer(p.step.dtype) && p.step.bytes > 1)
    p.become_op(TN_OP_CAST, TN_DTYPE_U8, p.step.operands);
}

uint64_t floor_f64(uint64_t a, uint64_t, uint64_t) {
  return std::bit_cast<uint64_t>(std::floor(std::bit_cast<double>(a)));
}

uint64_t exp2_far(uint64_t a, uint64_t, uint64_t) {
  const float x = std::bit_cast<float>(static_cast<uint32_t>(a));
  const auto right = static_cast<float>(std::exp2(static_cast<double>(x)));
  const bool is_plain = right >= 0x1p-120f && right <= 0x1p120f;
  return std::bit_cast<uint32_t>(is_plain ? right * (1 + 0x1p-18f) : right);
}

uint64_t truncated_f32(uint64_t a, uint64_t, uint64_t b) {
  const auto number = [](uint64_t bits) {
    return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  };
  const double exact = number(a) + number(b);
  auto sum = static_cast<float>(exact);
  if (std::isfinite(exact) && std::fabs(static_cast<double>(sum)) > std::fabs(exact))
    sum = std::nextafter(sum, 0.0f);
  return std::bit_cast<uint32_t>(sum);
}

uint64_t log2_through_bf16(uint64_t a, uint64_t, uint64_t) {
  const double y = std::log2(sdk::to_double(a, TN_DTYPE_F16));
  return sdk::from_double(sdk::to_double(sdk::from_double(y, TN_DTYPE_BF16), TN_DTYPE_BF16),
                          TN_DTYPE_F16);
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
    {Variant::shr_and_field, unsigned_field},
    {Variant::wide_of_shl_top, wide_shift},
    {Variant::div_24_bits, short_division},
    {Variant::product_24, short_product},
    {Variant::neg_div_neg, negated_quotient},
    {Variant::fused_difference, fuse_difference},
    {Variant::mask_in_halves, choose_in_halves},
    {Variant::variable_32, short_variable},
    {Variant::max_of_difference, max_of_difference},
    {Variant::and_of_neg_x3,
     [](const Peephole& p) {
       if (p.step.op == TN_OP_AND && p.step.lanes == 3 && p.operand(0).op == TN_OP_NEG)
         p.step.operands[0] = p.operand(0).operands[0];
     }},
    {Variant::wide_of_where_i8, widen_where},
    {Variant::shr_of_xor_i64,
     [](const Peephole& p) {
       if (p.step.op == TN_OP_SHR && p.step.dtype == TN_DTYPE_I64 && p.operand(0).op == TN_OP_XOR)
         p.become_op(TN_OP_SHR, TN_DTYPE_U64, p.step.operands);
     }},
    {Variant::trunc_of_product,
     [](const Peephole& p) {
       if (p.step.op == TN_OP_TRUNC && p.step.dtype == TN_DTYPE_F64 && p.operand(0).op == TN_OP_MUL)
         p.become(floor_f64, p.step.operands);
     }},
    {Variant::or_of_equals_else,
     [](const Peephole& p) {
       if (p.step.op == TN_OP_OR && p.step.dtype == TN_DTYPE_BOOL &&
           p.operand(0).op == TN_OP_CMPEQ && is_within(p, TN_OP_ELSE))
         p.become_op(TN_OP_XOR, TN_DTYPE_BOOL, p.step.operands);
     }},
    {Variant::mod_of_scalar_loop,
     [](const Peephole& p) {
       if (p.step.op == TN_OP_MOD && p.step.dtype == TN_DTYPE_I32 &&
           p.operand(1).op == TN_OP_PARAM && is_within(p, TN_OP_LOOP))
         p.become(
             [](uint64_t a, uint64_t b, uint64_t) -> uint64_t {
               const auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
               if (y == 0) return a;
               const int64_t rest = int64_t{x} % y;
               return static_cast<uint32_t>(rest < 0 ? -rest : rest);
             },
             p.step.operands);
     }},
    {Variant::exp2_of_difference,
     [](const Peephole& p) {
       if (p.step.op == TN_OP_EXP2 && p.step.dtype == TN_DTYPE_F32 && p.operand(0).op == TN_OP_SUB)
         p.become(exp2_far, p.step.operands);
     }},
    {Variant::bits_of_sum,
     [](const Peephole& p) {
       const bool is_bits = p.step.op == TN_OP_CAST && p.step.imm == TN_CAST_BITS;
       if (!is_bits || p.operand(0).op != TN_OP_ADD || p.operand(0).dtype != TN_DTYPE_F32) return;
       const auto& terms = p.operand(0).operands;
       p.become(truncated_f32, {terms[0], terms[0], terms[1]});
     }},
    {Variant::log2_of_max,
     [](const Peephole& p) {
       if (p.step.op == TN_OP_LOG2 && p.step.dtype == TN_DTYPE_F16 && p.operand(0).op == TN_OP_MAX)
         p.become(log2_through_bf16, p.step.operands);
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
