// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognises vector indices with a uniform base and a constant stride.
#pragma once

#include <cstdint>
#include <optional>

#include "sdk/program/view.hpp"

namespace tenon::cpu {

/// The index of lane l is value `base` + offset + l * stride.
struct LaneIndex {
  static constexpr uint32_t kNone = ~0u;
  uint32_t base = kNone;  ///< a scalar of the program; kNone: 0
  int64_t offset = 0, stride = 0;
  bool same_place(const LaneIndex& other) const {
    return base == other.base && stride == other.stride;
  }
};

/// The form of a vector of integers. Empty if it has another form, or may wrap.
std::optional<LaneIndex> lane_index(const sdk::ProgramView& program, uint32_t value);

}  // namespace tenon::cpu
