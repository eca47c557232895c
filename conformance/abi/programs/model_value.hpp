// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of a program, and whether every device that keeps its word has the same bits.
#pragma once

#include <span>

#include "core/interval/interval.hpp"
#include "sdk/program/view.hpp"

namespace tenon::conformance::abi::programs {

struct ModelValue {
  uint64_t bits = 0;
  bool known = false;  ///< the same on each device
  /// Of a float that is not known: what a device that keeps its word may have lies in the range.
  bool is_bounded = false;
  Interval range = {};
};

/// Floats that a device keeps as they are, by what it declares. Others are not certain.
struct Specials {
  bool nan = false, infinity = false, subnormal = false;
};
Specials kept_by(uint32_t numerics);  ///< TN_NUMERICS_ bits

/// What makes a value known.
struct ValueRules {
  bool is_host = false;  ///< all that is made from known values
  Specials keeps = {};
  /// What the device declares of its numbers. Without it floats that round are neither known nor
  /// bounded.
  const Profile* profile = nullptr;
};

/// One lane of an elementwise op. Integers and bools are certain; floats where nothing rounds or
/// the profile says how, and no NaN, infinity or subnormal comes up that the device does not keep.
/// Of other floats the interval of core/interval is known.
ModelValue elementwise(const sdk::ProgramView& program, const tn_op& op,
                       std::span<const ModelValue> operands, const ValueRules& rules = {});
/// Of all lanes, in any order; of a host in theirs.
ModelValue reduce_lanes(const tn_op& op, std::span<const ModelValue> lanes,
                        const ValueRules& rules = {});
/// One lane of a DOT: the start, and the factors of its products, of two dtypes.
struct DotTerms {
  uint8_t x_dtype, y_dtype;
  std::span<const ModelValue> x, y;
};
/// Sums and products in any order, fused or not. Known where nothing rounds.
ModelValue dot_sum(const tn_op& op, const ModelValue& start, const DotTerms& terms,
                   const ValueRules& rules = {});
/// Whether a device may have the bits, of a value that is known or bounded.
bool accepts(uint8_t dtype, const ModelValue& value, uint64_t bits, bool signed_zeros);
/// What an ATOMIC leaves in memory.
ModelValue after_atomic(const tn_op& op, const ModelValue& old, const ModelValue& value,
                        const ModelValue& wanted);
/// Not known if it is a float that a device may take for another one.
ModelValue as_it_is(uint8_t dtype, uint64_t bits, const Specials& keeps = {});
/// Equal, but for the bits of a NaN and the sign of a zero on a device that has none.
bool agree(uint8_t dtype, uint64_t a, uint64_t b, bool signed_zeros);

}  // namespace tenon::conformance::abi::programs
