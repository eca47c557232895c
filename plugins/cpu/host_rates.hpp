// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast this processor's dot products are.
#pragma once

#include <cstdint>

#include "plugins/cpu/target.hpp"

namespace tenon::cpu {

/// Multiply-adds relative to those of f32, which are 256, to the nearest power of two, so that two
/// runs agree; 0: not measured.
struct HostRates {
  uint32_t bf16 = 0, i8 = 0;
};

/// Runs each instruction for some microseconds.
HostRates measure_rates(const TargetSpec& host);

}  // namespace tenon::cpu
