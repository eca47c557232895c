// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums and products of floats that round, and such that are subnormal.
#pragma once

#include <functional>

#include "conformance/abi/open_device.hpp"

namespace tenon::conformance::abi::checks {

/// Runs x + y, x - y and x y in so many lanes, and throws a Finding for what is not the nearest
/// float, or lost a subnormal. What the device declares otherwise is left out, and what bf16 may
/// round either way. Answers whether it takes such a program. `around` calls what it is given, the
/// submission, in ways of its own.
bool try_sums(
    const OpenDevice& device, tn_dtype dtype, uint16_t lanes,
    const std::function<void(const std::function<void()>&)>& around = [](const auto& run) {
      run();
    });

}  // namespace tenon::conformance::abi::checks
