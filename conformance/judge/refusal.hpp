// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a refusal means: of the core, for a device that lacks something, and of the plugin, for a
// program that it claims or does not.
#pragma once

#include "conformance/cases/case.hpp"
#include "core/device/target_compiler.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::judge {

/// UNSUPPORTED where the case has a dtype that the device does not store or compute with, or, if
/// the error is about room, a tensor larger than its buffers; else the failure that the error is.
Outcome from_error(const Error& error, const Case& test, const Capabilities& capabilities);

/// Support honesty at the boundary itself: a program of one op, handed to the plugin whether it
/// claims the op or not. The core would never send one that is not claimed; a stranger's core
/// might. PASS if a claimed op compiles, and one that is not claimed is refused with an error
/// status (or compiles all the same).
Outcome offer_op(const TargetCompiler& compiler, const Node& op);

}  // namespace tenon::conformance::judge
