// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints a program as source of a C-family language.
#pragma once

#include <string>

#include "sdk/program/view.hpp"
#include "sdk/render/dialect.hpp"

namespace tenon::sdk {

/// The program must be verified. Throws Failure(TN_ERROR_UNSUPPORTED) for ops and types that the
/// dialect lacks.
std::string print_source(const ProgramView& program, const Dialect& dialect);

}  // namespace tenon::sdk
