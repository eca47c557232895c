// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "core/device/target_compiler.hpp"
#include "core/lower/lower.hpp"

namespace tenon::cli {

/// Compiles the kernel and says what it may cost (core/budget). Symbols are as large as they may
/// be.
std::string budget_text(const LoweredKernel& kernel, const TargetCompiler& target);

}  // namespace tenon::cli
