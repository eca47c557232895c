// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks for programs, beyond the properties.
#pragma once

#include <string>

#include "sdk/program/view.hpp"

namespace tenon::cpu {

/// Empty if the program can be compiled; else why not.
std::string unsupported(const sdk::ProgramView& program);

}  // namespace tenon::cpu
