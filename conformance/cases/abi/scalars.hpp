// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalars of programs, their bits and the ABI's codes, by the core's definitions. Interpreters of
// plugins use sdk/program/scalar.hpp, another writing of ops.def: so a fault of either shows as a
// difference. Nothing in conformance/ may include that header (tests/layering).
#pragma once

#include <string>

#include "core/ir/dtype.hpp"
#include "tenon/program.h"

namespace tenon::conformance::abi {

inline Scalar scalar(uint8_t dtype, uint64_t bits) { return {static_cast<DType>(dtype), bits}; }

/// Exact but for 64-bit integers, which round.
inline double to_double(uint64_t bits, uint8_t dtype) { return scalar(dtype, bits).as_double(); }
/// A cast from f64.
inline uint64_t from_double(double value, uint8_t dtype) {
  return Scalar::of(static_cast<DType>(dtype), value).bits;
}
/// The value cast.
inline uint64_t convert(uint64_t bits, uint8_t from, uint8_t to) {
  return cast(scalar(from, bits), static_cast<DType>(to)).bits;
}
inline std::string scalar_text(uint64_t bits, uint8_t dtype) {
  return to_string(scalar(dtype, bits));
}

/// Operands 0 to 2 of an elementwise op but WHERE and bit casts; those that the op does not have
/// are ignored. `from` is the operands' dtype, `to` that of the value, which differ for CAST and
/// comparisons only. Throws kInvalid where the op does not take the dtype.
uint64_t evaluate_op(uint16_t op, uint8_t from, uint8_t to, uint64_t a, uint64_t b, uint64_t c);

/// Of a float dtype: 2^-14 for f16.
double least_normal(uint8_t dtype);

}  // namespace tenon::conformance::abi
