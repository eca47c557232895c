// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures what Tenon's own kernels reach on a device: the roofline of a profile.
#pragma once

#include "core/runtime/runtime.hpp"
#include "tenon/profile.hpp"

namespace tenon {

/// Takes some tens of milliseconds and at most 128 MiB of memory. Rates that cannot be measured are
/// 0.
DeviceRates measure_rates(Runtime& runtime, Device& device);

}  // namespace tenon
