// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form of programs: one op per line, types at the end. Prints and parses; round trips
// exactly.
#pragma once

#include <string>
#include <string_view>

#include "sdk/program/builder.hpp"

namespace tenon::sdk {

std::string print_program(const ProgramView& program);
/// Returns an empty program and a message with line and column on an error. The result is verified.
Program parse_program(std::string_view text, std::string& error);

}  // namespace tenon::sdk
