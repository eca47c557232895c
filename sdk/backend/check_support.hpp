// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks a program against the properties that a device claims.
#pragma once

#include <string>

#include "sdk/program/view.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

/// Empty if the program is within them; else as "op 7 exp2: expected arithmetic on f64 to be
/// claimed".
std::string exceeds_properties(const ProgramView& program, const tn_properties& properties);

}  // namespace tenon::sdk
