// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifies an untrusted program with all its offsets. After that, ProgramView reads in bounds.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "sdk/program/builder.hpp"
#include "tenon/program.h"

namespace tenon::sdk {

/// Empty if the block is a legal program; else as "op 12 add: expected 2 operands, got 3". Never
/// reads outside [bytes, bytes + size). bytes must be 16-byte aligned.
std::string verify_program(const void* bytes, size_t size);

/// A verified copy of saved bytes. Throws TN_ERROR_INCOMPATIBLE if they are not a program.
Program load_program(std::span<const std::byte> bytes);

}  // namespace tenon::sdk
