// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of a value's bits: those that are zero in all threads, and those that may differ
// between threads. With it `block.x / 32` is equal where the numbers of the threads differ below
// bit 5 alone. Each function is what its op of ops.def does to them.
#pragma once

#include <cstdint>

namespace tenon::sdk {

/// Of a number in two's complement of `width` bits; of a vector, of all of its lanes together.
/// Values that are no integers have either none or all of their bits in `varies`.
struct VaryingBits {
  uint64_t zero = 0;    ///< zero in all threads; those from `width` on always are
  uint64_t varies = 0;  ///< may differ; never one that is zero

  friend bool operator==(const VaryingBits&, const VaryingBits&) = default;
};

constexpr uint64_t low_bits(unsigned count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

/// All bits but those that are zero, or none.
VaryingBits spread(uint64_t zero, bool varies);
/// Of `width` bits.
VaryingBits cut(VaryingBits a, unsigned width);
VaryingBits bits_of_constant(uint64_t bits);
/// Not negative, and at most `most`.
VaryingBits bits_up_to(uint64_t most, bool varies);
/// Either of them, the same one in all threads.
VaryingBits join(VaryingBits a, VaryingBits b);
/// What holds of more values: it rises only a few times more when it is joined again and again.
VaryingBits widened(VaryingBits a, unsigned width);

/// Integer ops on operands of `width` bits.
VaryingBits bits_of_add(VaryingBits a, VaryingBits b, unsigned width);
VaryingBits bits_of_sub(VaryingBits a, VaryingBits b, unsigned width);
VaryingBits bits_of_mul(VaryingBits a, VaryingBits b, unsigned width);
VaryingBits bits_of_and(VaryingBits a, VaryingBits b);
VaryingBits bits_of_or(VaryingBits a, VaryingBits b);
VaryingBits bits_of_shl(VaryingBits a, uint64_t by, unsigned width);
VaryingBits bits_of_shr(VaryingBits a, uint64_t by, unsigned width, bool is_signed);
/// By a number that is above 0 and known; `is_signed` numbers below 0 have their highest bit set.
VaryingBits bits_of_idiv(VaryingBits a, uint64_t by, unsigned width, bool is_signed);
VaryingBits bits_of_mod(VaryingBits a, uint64_t by, unsigned width, bool is_signed);
VaryingBits bits_of_where(bool condition_varies, VaryingBits a, VaryingBits b);
/// From an integer or bool to one of `to` bits.
VaryingBits bits_of_cast(VaryingBits a, unsigned from, bool from_signed, unsigned to);
/// Whether a < b may differ. Numbers that differ in low bits alone are on one side of every
/// number whose low bits are zero.
bool less_varies(VaryingBits a, VaryingBits b, unsigned width, bool is_signed);
/// The value that a loop's test sees: begin and any number of steps, as many in all threads.
VaryingBits bits_of_steps(VaryingBits begin, VaryingBits step, unsigned width);

}  // namespace tenon::sdk
