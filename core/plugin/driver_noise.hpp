// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Silences drivers that print on the standard streams of a program.
#pragma once

namespace tenon {

/// For main() of a tool, before it has threads. A library must not change the environment. Mesa's
/// device selection layer looks for a display, and libwayland prints four errors if XDG_RUNTIME_DIR
/// is unset. This sets the value that a login sets.
void quiet_drivers();

}  // namespace tenon
