// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form of programs: one op per line, types at the end. Prints and parses; round trips
// exactly.
#pragma once

#include <string>
#include <string_view>

#include "sdk/program/builder.hpp"

namespace tenon::sdk {

std::string print_program(const ProgramView& program);
/// Parses and verifies a program. On an error returns an empty program and sets `error` with line
/// and column.
Program parse_program(std::string_view text, std::string& error);

}  // namespace tenon::sdk
