// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector indices of a program that are a position, the same in all lanes, and a stride.
#pragma once

#include <cstdint>
#include <optional>

#include "sdk/program/view.hpp"

namespace tenon::cpu {

/// Lane l stands at value `base` + offset + l * stride.
struct LaneIndex {
  static constexpr uint32_t kNone = ~0u;
  uint32_t base = kNone;  ///< a scalar of the program; kNone: 0
  int64_t offset = 0, stride = 0;
  bool same_place(const LaneIndex& other) const {
    return base == other.base && stride == other.stride;
  }
};

/// Of a vector of integers; nothing where it is of another form, or may wrap on the way.
std::optional<LaneIndex> lane_index(const sdk::ProgramView& program, uint32_t value);

}  // namespace tenon::cpu
