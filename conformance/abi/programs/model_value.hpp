// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of a program, and whether every device that keeps its word has the same bits.
#pragma once

#include <span>

#include "sdk/program/view.hpp"

namespace tenon::conformance::abi::programs {

struct ModelValue {
  uint64_t bits = 0;
  bool known = false;  ///< the same on each device
};

/// One lane of an elementwise op. Integers and bools are certain; floats where nothing rounds, and
/// no NaN, infinity or subnormal comes up. `is_host`: all that is made from known values.
ModelValue elementwise(const sdk::ProgramView& program, const tn_op& op,
                       std::span<const ModelValue> operands, bool is_host = false);
/// Of all lanes, in any order; of a host in theirs.
ModelValue reduce_lanes(const tn_op& op, std::span<const ModelValue> lanes, bool is_host = false);
/// What an ATOMIC leaves in memory.
ModelValue after_atomic(const tn_op& op, const ModelValue& old, const ModelValue& value,
                        const ModelValue& wanted);
/// Not known if it is a float that a device may take for another one.
ModelValue as_it_is(uint8_t dtype, uint64_t bits);
/// Equal, but for the sign of a zero on a device that has none.
bool agree(uint8_t dtype, uint64_t a, uint64_t b, bool signed_zeros);

}  // namespace tenon::conformance::abi::programs
