// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bug planted in the text that a dialect printed, as planted.py wants it.
#pragma once

#include <string>

namespace tenon::emulated {

/// TENON_EMULATED_EDIT is a regular expression for a line, its replacement, and which line that
/// fits of a kernel, from 1, or 0 for each: three lines. "// edited" stands behind those it
/// changed.
std::string edited(std::string source);

}  // namespace tenon::emulated
