// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The values that a random program has so far, and new ones from them.
#pragma once

#include <vector>

#include "conformance/cases/abi/program_data.hpp"
#include "conformance/cases/choices.hpp"
#include "sdk/program/builder.hpp"

namespace tenon::conformance::abi {

/// What a program is made from; few things, so that a small device takes many programs.
struct Palette {
  std::vector<tn_dtype> dtypes;         ///< bool is always there, in values
  std::vector<tn_opcode> optional_ops;  ///< elementwise and vector ops that it may use
  tn_dtype index = TN_DTYPE_I32;
  uint16_t lanes = 1;          ///< of vectors; 1: none
  bool narrow_floats = false;  ///< computes in floats of 8 and 16 bits, not only stores them
  bool has_optional(tn_opcode op) const;
};
Palette draw_palette(Choices& choices);

struct ProgramValue {
  uint32_t id = 0;
  tn_dtype dtype = TN_DTYPE_I32;
  uint16_t lanes = 1;
  Exact exact = {};  ///< of floats
};

class ProgramPool {
 public:
  ProgramPool(Choices& choices, sdk::ProgramBuilder& builder, const Palette& palette)
      : choices_(choices), builder_(builder), palette_(palette) {}

  void add(const ProgramValue& value) { values_.push_back(value); }
  /// Values of a region are gone after its end.
  size_t height() const { return values_.size(); }
  void cut(size_t height) { values_.resize(height); }

  /// One that is there, or a constant.
  ProgramValue any(tn_dtype dtype, uint16_t lanes);
  /// A float within what `exact` says; of other dtypes any.
  ProgramValue fitting(tn_dtype dtype, uint16_t lanes, const Exact& exact);
  /// The sum of the last ones, as far as it is within `exact`.
  ProgramValue all(tn_dtype dtype, uint16_t lanes, const Exact& exact);
  ProgramValue constant(tn_dtype dtype, uint16_t lanes);
  ProgramValue number(tn_dtype dtype, int64_t value, uint16_t lanes = 1);
  /// A dtype of the palette, or bool; 1 lane or the palette's.
  tn_dtype any_dtype();
  /// Whether values of it take part in arithmetic.
  bool computes(tn_dtype dtype) const;
  uint16_t any_lanes();
  /// A new value by an op that is drawn, added to the pool.
  ProgramValue grow();
  /// At least 0 and below `count`, a power of two: an index.
  ProgramValue below(ProgramValue value, int64_t count);
  /// first, first + step, ...: an index for each lane.
  ProgramValue spread(const ProgramValue& first, uint16_t lanes, int64_t step);
  /// An index for each of the palette's lanes: in a row, or not.
  ProgramValue any_gather();
  /// Of one lane, or of each: some of them, or up to one.
  ProgramValue any_mask(uint16_t lanes);
  /// What a CARRY becomes; floats grow only as far as their bound.
  ProgramValue next(const ProgramValue& carry);
  /// The condition of a while loop, whose counter is `counter`.
  ProgramValue goes_on(const ProgramValue& counter);
  ProgramValue op(tn_opcode op, tn_dtype dtype, std::vector<ProgramValue> operands,
                  Exact exact = {}, uint64_t imm = 0, uint32_t flags = 0);

 private:
  ProgramValue grow_bool(uint16_t lanes);
  ProgramValue grow_integer(tn_dtype dtype, uint16_t lanes);
  ProgramValue grow_float(tn_dtype dtype, uint16_t lanes);
  ProgramValue grow_cast(tn_dtype dtype, uint16_t lanes);
  ProgramValue grow_bits(tn_dtype dtype, uint16_t lanes);
  ProgramValue grow_where(tn_dtype dtype, uint16_t lanes);
  ProgramValue grow_moved(tn_dtype dtype, uint16_t lanes);
  /// An exact op on operands of their dtype: one that compares, or one that does not.
  ProgramValue with(bool compares, tn_dtype dtype, const ProgramValue& x, const ProgramValue& y);

  Choices& choices_;
  sdk::ProgramBuilder& builder_;
  const Palette& palette_;
  std::vector<ProgramValue> values_;
};

}  // namespace tenon::conformance::abi
