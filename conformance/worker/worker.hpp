// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The child's side: loads the plugin, runs the cases that the parent asks for, and reports each.
#pragma once

#include "conformance/judge/harness.hpp"

namespace tenon::conformance {

/// File descriptors that the parent opens for the child: commands come in, lines of wire.hpp go
/// out. Standard output stays the plugin's.
inline constexpr int kCommandFd = 3, kResultFd = 4;

/// Serves commands until the parent closes the pipe:
///   range SEED BEGIN END     cases of the generator
///   text BYTES               a reproducer of so many bytes follows; its index is 0
/// Returns the exit code.
int serve(const Target& target);

}  // namespace tenon::conformance
