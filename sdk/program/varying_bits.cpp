// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/program/varying_bits.hpp"

#include <algorithm>
#include <bit>

namespace tenon::sdk {
namespace {

unsigned trailing_zeros(VaryingBits a) { return static_cast<unsigned>(std::countr_one(a.zero)); }
/// Number of bits that hold every value it may have.
unsigned length(VaryingBits a) { return static_cast<unsigned>(std::bit_width(~a.zero)); }
/// Number of low bits that contain all varying ones.
unsigned varying_length(VaryingBits a) { return static_cast<unsigned>(std::bit_width(a.varies)); }
bool is_below_zero(VaryingBits a, unsigned width, bool is_signed) {
  return is_signed && !(a.zero >> (width - 1) & 1);
}

/// Ripple-carry, bit by bit. A carry needs two of three bits that may be one; a borrow needs a bit
/// of `b` or a borrow.
VaryingBits ripple(VaryingBits a, VaryingBits b, unsigned width, bool borrows) {
  VaryingBits out;
  bool carry = false, carry_varies = false;
  for (unsigned i = 0; i < width; ++i) {
    const auto may = [&](VaryingBits v) { return !(v.zero >> i & 1); };
    const auto varies = [&](VaryingBits v) { return (v.varies >> i & 1) != 0; };
    const bool bit_varies = varies(a) || varies(b) || carry_varies;
    const int ones = int{may(a)} + int{may(b)} + int{carry};
    out.zero |= uint64_t{ones == 0} << i;
    out.varies |= uint64_t{bit_varies} << i;
    carry = borrows ? may(b) || carry : ones > 1;
    carry_varies = carry && bit_varies;
  }
  return cut(out, width);
}

}  // namespace

VaryingBits spread(uint64_t zero, bool varies) { return {zero, varies ? ~zero : 0}; }
VaryingBits cut(VaryingBits a, unsigned width) {
  a.zero |= ~low_bits(width);
  a.varies &= ~a.zero;
  return a;
}
VaryingBits bits_of_constant(uint64_t bits) { return {~bits, 0}; }
VaryingBits bits_up_to(uint64_t most, bool varies) {
  return spread(~low_bits(static_cast<unsigned>(std::bit_width(most))), varies);
}
VaryingBits join(VaryingBits a, VaryingBits b) { return {a.zero & b.zero, a.varies | b.varies}; }
VaryingBits widened(VaryingBits a, unsigned width) {
  VaryingBits out{low_bits(trailing_zeros(a)), 0};
  if (a.varies) out.varies = ~low_bits(static_cast<unsigned>(std::countr_zero(a.varies)));
  return cut(out, width);
}

VaryingBits bits_of_add(VaryingBits a, VaryingBits b, unsigned width) {
  return ripple(a, b, width, false);
}
VaryingBits bits_of_sub(VaryingBits a, VaryingBits b, unsigned width) {
  return ripple(a, b, width, true);
}

VaryingBits bits_of_mul(VaryingBits a, VaryingBits b, unsigned width) {
  const auto is_power = [](VaryingBits v) { return std::has_single_bit(~v.zero) && !v.varies; };
  // Only one bit may be set: the result is the other operand shifted, or zero.
  if (is_power(b)) return bits_of_shl(a, trailing_zeros(b), width);
  if (is_power(a)) return bits_of_shl(b, trailing_zeros(a), width);
  VaryingBits out;
  out.zero = low_bits(trailing_zeros(a) + trailing_zeros(b));
  const unsigned most = length(a) + length(b);
  if (most < width) out.zero |= ~low_bits(most);
  const auto from = [](VaryingBits v, VaryingBits other) {
    return v.varies ? static_cast<unsigned>(std::countr_zero(v.varies)) + trailing_zeros(other)
                    : 64u;
  };
  out.varies = ~low_bits(std::min(from(a, b), from(b, a)));
  return cut(out, width);
}

VaryingBits bits_of_and(VaryingBits a, VaryingBits b) {
  return {a.zero | b.zero, (a.varies & ~b.zero) | (b.varies & ~a.zero)};
}
VaryingBits bits_of_or(VaryingBits a, VaryingBits b) { return join(a, b); }

VaryingBits bits_of_shl(VaryingBits a, uint64_t by, unsigned width) {
  if (by >= width) return bits_of_constant(0);
  return cut({a.zero << by | low_bits(static_cast<unsigned>(by)), a.varies << by}, width);
}

VaryingBits bits_of_shr(VaryingBits a, uint64_t by, unsigned width, bool is_signed) {
  const bool smears = is_below_zero(a, width, is_signed);
  if (by >= width && !smears) return bits_of_constant(0);
  by = std::min<uint64_t>(by, width - 1);
  VaryingBits out{a.zero >> by | ~(~uint64_t{0} >> by), a.varies >> by};
  if (smears) {
    const uint64_t sign = low_bits(width) & ~low_bits(width - static_cast<unsigned>(by));
    out.zero &= ~sign;
    if (a.varies >> (width - 1) & 1) out.varies |= sign;
  }
  return cut(out, width);
}

VaryingBits bits_of_idiv(VaryingBits a, uint64_t by, unsigned width, bool is_signed) {
  if (is_below_zero(a, width, is_signed)) return cut(spread(0, a.varies != 0), width);
  if (std::has_single_bit(by))
    return bits_of_shr(a, static_cast<uint64_t>(std::countr_zero(by)), width, false);
  const bool varies = varying_length(a) > static_cast<unsigned>(std::countr_zero(by));
  return cut(spread(~low_bits(length(a)), varies), width);
}

VaryingBits bits_of_mod(VaryingBits a, uint64_t by, unsigned width, bool is_signed) {
  if (is_below_zero(a, width, is_signed)) return cut(spread(0, a.varies != 0), width);
  if (std::has_single_bit(by)) return bits_of_and(a, bits_of_constant(by - 1));
  const auto low = static_cast<unsigned>(std::countr_zero(by));
  VaryingBits out;
  out.zero = ~low_bits(std::min(length(a), static_cast<unsigned>(std::bit_width(by))));
  out.zero |= a.zero & low_bits(low);
  out.varies = varying_length(a) <= low ? a.varies : ~low_bits(low) | (a.varies & low_bits(low));
  return cut(out, width);
}

VaryingBits bits_of_where(bool condition_varies, VaryingBits a, VaryingBits b) {
  VaryingBits out = join(a, b);
  if (condition_varies) out.varies = ~out.zero;
  return out;
}

VaryingBits bits_of_cast(VaryingBits a, unsigned from, bool from_signed, unsigned to) {
  if (to > from && is_below_zero(a, from, from_signed)) {
    const uint64_t sign = low_bits(to) & ~low_bits(from);
    a.zero &= ~sign;
    if (a.varies >> (from - 1) & 1) a.varies |= sign;
  }
  return cut(a, to);
}

bool less_varies(VaryingBits a, VaryingBits b, unsigned width, bool is_signed) {
  // Both are uniform above bit k. If b is zero below k, lower bits of a cannot make a < b true.
  const unsigned k = std::max(varying_length(a), varying_length(b));
  return k > 0 && (trailing_zeros(b) < k || (is_signed && k >= width));
}

VaryingBits bits_of_steps(VaryingBits begin, VaryingBits step, unsigned width) {
  const uint64_t sign = uint64_t{1} << (width - 1);
  const VaryingBits steps = spread(low_bits(trailing_zeros(step)), step.varies != 0);
  VaryingBits out = bits_of_add(begin, cut(steps, width), width);
  if (begin.zero & sign) out.zero |= sign, out.varies &= ~sign;  // the sum does not wrap
  return out;
}

}  // namespace tenon::sdk
