// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Support honesty of limits: what a device claims can be used up to the last byte and thread.
#pragma once

#include "conformance/cases/outcome.hpp"
#include "conformance/judge/device_run.hpp"
#include "core/device/device.hpp"

namespace tenon::conformance::judge {

/// Runs a program at one of the claimed limits, which the seed chooses: bindings, threads or
/// workgroups of an axis, shared or scratch memory. FAIL of kind "support" where it is refused or
/// gives wrong values; PASS also where the device claims nothing of the kind. Grids and
/// memory grow as far as the device gets in time, buffers up to what it claims.
Outcome check_limit(Device& device, uint64_t seed, const Progress& progress);

}  // namespace tenon::conformance::judge
