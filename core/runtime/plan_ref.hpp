// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A shared reference to a plan, for code that needs no definition of it.
#pragma once

#include <memory>

namespace tenon {

class SchedulePlan;
using SchedulePlanRef = std::shared_ptr<const SchedulePlan>;

}  // namespace tenon
