// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks a finished schedule against the limits of its devices.
#pragma once

#include "core/schedule/schedule.hpp"

namespace tenon::scheduling {

/// Throws kUnsupported "[op] expected ..., got ..." for the first buffer or launch beyond a limit.
/// Symbols count with their smallest values; the runtime checks actual sizes.
void check_limits(const Schedule& schedule, const ScheduleOptions& options);

}  // namespace tenon::scheduling
