// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks a program from anywhere, down to its last offset: after it, ProgramView reads in bounds.
#pragma once

#include <cstddef>
#include <string>

#include "tenon/program.h"

namespace tenon::sdk {

/// Empty if the block is a legal program; else a sentence as "op 12 add: expected 2 operands, got
/// 3". Never reads outside [bytes, bytes + size). bytes must be 16-byte aligned.
std::string verify_program(const void* bytes, size_t size);

}  // namespace tenon::sdk
