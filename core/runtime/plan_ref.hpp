// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who shares a plan, for those that need not know what is in it.
#pragma once

#include <memory>

namespace tenon {

class SchedulePlan;
using SchedulePlanRef = std::shared_ptr<const SchedulePlan>;

}  // namespace tenon
