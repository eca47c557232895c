// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>

#include "core/schedule/schedule.hpp"

namespace tenon {

/// Every kernel of a schedule and of the schedules inside its branches and loops, in order, with
/// the index of its device.
void each_kernel(const Schedule& schedule,
                 const std::function<void(const KernelCall&, int device)>& use);

}  // namespace tenon
