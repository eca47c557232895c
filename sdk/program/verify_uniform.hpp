// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks uniform control flow: all threads of the scope, or none, must reach a BARRIER, subgroup or
// matrix op.
#pragma once

#include <cstdint>
#include <string>

#include "sdk/program/view.hpp"

namespace tenon::sdk {

/// Checks a program that is otherwise legal. Returns an error and sets `at` to its op, or returns
/// "".
std::string check_uniform(const ProgramView& program, uint32_t& at);

}  // namespace tenon::sdk
