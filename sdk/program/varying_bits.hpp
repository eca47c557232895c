// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Known bits of a value: those zero in all threads, and those that may differ between threads. They
// show that `block.x / 32` is uniform where thread numbers differ only below bit 5. Each function
// is the transfer function of an op of ops.def.
#pragma once

#include <cstdint>

namespace tenon::sdk {

/// For a number in two's complement of `width` bits, or all lanes of a vector together. A value
/// that is not an integer has none or all of its bits in `varies`.
struct VaryingBits {
  uint64_t zero = 0;    ///< zero in all threads; always set from `width` on
  uint64_t varies = 0;  ///< may differ between threads; disjoint from `zero`

  friend bool operator==(const VaryingBits&, const VaryingBits&) = default;
};

constexpr uint64_t low_bits(unsigned count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

/// If `varies`, all bits not in `zero` vary; else none.
VaryingBits spread(uint64_t zero, bool varies);
/// Truncates to `width` bits.
VaryingBits cut(VaryingBits a, unsigned width);
VaryingBits bits_of_constant(uint64_t bits);
/// A number in [0, most].
VaryingBits bits_up_to(uint64_t most, bool varies);
/// The join: either value, the same one in all threads.
VaryingBits join(VaryingBits a, VaryingBits b);
/// Widening: a larger set of values, so that repeated joins soon reach a fixed point.
VaryingBits widened(VaryingBits a, unsigned width);

/// Integer ops on operands of `width` bits.
VaryingBits bits_of_add(VaryingBits a, VaryingBits b, unsigned width);
VaryingBits bits_of_sub(VaryingBits a, VaryingBits b, unsigned width);
VaryingBits bits_of_mul(VaryingBits a, VaryingBits b, unsigned width);
VaryingBits bits_of_and(VaryingBits a, VaryingBits b);
VaryingBits bits_of_or(VaryingBits a, VaryingBits b);
VaryingBits bits_of_shl(VaryingBits a, uint64_t by, unsigned width);
VaryingBits bits_of_shr(VaryingBits a, uint64_t by, unsigned width, bool is_signed);
/// Division by a known positive number. `is_signed`: the highest bit is the sign.
VaryingBits bits_of_idiv(VaryingBits a, uint64_t by, unsigned width, bool is_signed);
VaryingBits bits_of_mod(VaryingBits a, uint64_t by, unsigned width, bool is_signed);
VaryingBits bits_of_where(bool condition_varies, VaryingBits a, VaryingBits b);
/// From an integer or bool to one of `to` bits.
VaryingBits bits_of_cast(VaryingBits a, unsigned from, bool from_signed, unsigned to);
/// Whether a < b may differ between threads. Numbers that differ only in low bits are on one side
/// of every number whose low bits are zero.
bool less_varies(VaryingBits a, VaryingBits b, unsigned width, bool is_signed);
/// The induction variable of a loop: begin plus any number of steps, equal in all threads.
VaryingBits bits_of_steps(VaryingBits begin, VaryingBits step, unsigned width);

}  // namespace tenon::sdk
