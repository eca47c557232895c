// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of every elementwise op on one value, as ops.def pins it: an interpreter's inner
// loop, and the oracle to test a code generator against. Values travel as their bits,
// zero-extended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sdk/program/view.hpp"
#include "tenon/program.h"

namespace tenon::sdk {

/// Operands 0 to 2; those that the op does not have are ignored.
using ScalarFunction = uint64_t (*)(uint64_t a, uint64_t b, uint64_t c);

/// `from` is the dtype of the operands (of the last one for WHERE), `to` that of the value; they
/// differ only for CAST and comparisons. Null if the op is not elementwise or does not take them.
/// Floats narrower than f64 are computed in f64 and rounded once.
ScalarFunction scalar_function(uint16_t op, uint8_t from, uint8_t to);

/// That of an op of a program: bit casts too, and what a LANE_REDUCE combines two lanes with.
ScalarFunction scalar_function(const ProgramView& program, const tn_op& op);

/// What an ATOMIC leaves in memory that held `old`; `wanted` is a compare-exchange's.
uint64_t apply_atomic(const tn_op& op, uint64_t old, uint64_t value, uint64_t wanted);

/// The value cast. Dtypes must be known ones.
uint64_t convert(uint64_t bits, uint8_t from, uint8_t to);

/// Exact but for 64-bit integers, which round.
double to_double(uint64_t bits, uint8_t dtype);
/// A cast from f64.
uint64_t from_double(double value, uint8_t dtype);

/// Text that parses back to the same bits: "-7", "1.5", "inf", "nan", "nan(0x7fc00001)", "true".
std::string scalar_text(uint64_t bits, uint8_t dtype);
/// Nothing if it is no number of the dtype or out of its range.
std::optional<uint64_t> parse_scalar(std::string_view text, uint8_t dtype);

}  // namespace tenon::sdk
