// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a program stays within what a device's properties claim.
#pragma once

#include <string>

#include "sdk/program/view.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

/// Empty if it does; else a sentence as "op 7 exp2: expected arithmetic on f64 to be claimed".
std::string exceeds_properties(const ProgramView& program, const tn_properties& properties);

}  // namespace tenon::sdk
