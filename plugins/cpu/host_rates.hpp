// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the throughput of dot product instructions.
#pragma once

#include <cstdint>

#include "plugins/cpu/target.hpp"

namespace tenon::cpu {

/// Rates of multiply-adds relative to f32 (256), rounded to a power of two so that runs agree. 0:
/// not measured.
struct HostRates {
  uint32_t bf16 = 0, i8 = 0;
};

/// Runs each instruction for some microseconds.
HostRates measure_rates(const TargetSpec& host);

}  // namespace tenon::cpu
