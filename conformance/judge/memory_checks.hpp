// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be asked of a backend that holds memory and computes nothing.
#pragma once

#include "conformance/judge/harness.hpp"

namespace tenon::conformance {

/// Loads the plugin into this process: the file's path if its device computes nothing, else "".
std::string memory_only_plugin(const Target& target);

/// Writes, reads, ranges, copies, fills and growth, in a child process; prints a line for each
/// check. The exit code: kExitOk, kExitFailures, or kExitEnvironment if the device cannot be
/// opened.
int run_memory_checks(const Target& target, bool json);

}  // namespace tenon::conformance
