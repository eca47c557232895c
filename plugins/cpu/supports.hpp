// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a program can be compiled, beyond what the properties say.
#pragma once

#include <string>

#include "sdk/program/view.hpp"

namespace tenon::cpu {

/// Empty if it can; else a sentence. Pure.
std::string unsupported(const sdk::ProgramView& program);

}  // namespace tenon::cpu
