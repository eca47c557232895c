// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a device reaches with Tenon's own kernels: the limits of a profile.
#pragma once

#include "core/runtime/runtime.hpp"
#include "tenon/profile.hpp"

namespace tenon {

/// Takes some tens of milliseconds, and memory of 128 MiB at most. What cannot be measured is 0.
DeviceRates measure_rates(Runtime& runtime, Device& device);

}  // namespace tenon
