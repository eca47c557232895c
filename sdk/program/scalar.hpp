// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every elementwise op on one value, as ops.def defines it: for interpreters, and as the oracle of
// code generators. Values are passed as zero-extended bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sdk/program/view.hpp"
#include "tenon/program.h"

namespace tenon::sdk {

/// Takes operands 0 to 2; those beyond the arity are ignored.
using ScalarFunction = uint64_t (*)(uint64_t a, uint64_t b, uint64_t c);

/// `from` is the dtype of the operands (the last one for WHERE), `to` that of the value. They
/// differ only for CAST and comparisons. Null if the op is not elementwise or does not take these
/// dtypes. Floats narrower than f64 are computed in f64 and rounded once.
ScalarFunction scalar_function(uint16_t op, uint8_t from, uint8_t to);

/// The function of an op of a program. Handles bit casts, and the combination of a LANE_REDUCE.
ScalarFunction scalar_function(const ProgramView& program, const tn_op& op);

/// The value that an ATOMIC stores over `old`. `wanted` is the expected value of a
/// compare-exchange.
uint64_t apply_atomic(const tn_op& op, uint64_t old, uint64_t value, uint64_t wanted);

/// The value cast. Dtypes must be known ones.
uint64_t convert(uint64_t bits, uint8_t from, uint8_t to);

/// Exact but for 64-bit integers, which round.
double to_double(uint64_t bits, uint8_t dtype);
/// A cast from f64.
uint64_t from_double(double value, uint8_t dtype);

/// Text that parses back to the same bits: "-7", "1.5", "inf", "nan", "nan(0x7fc00001)", "true".
std::string scalar_text(uint64_t bits, uint8_t dtype);
/// Empty if it is not a number of the dtype or out of its range.
std::optional<uint64_t> parse_scalar(std::string_view text, uint8_t dtype);

}  // namespace tenon::sdk
