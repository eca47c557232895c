// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What drivers print through a program, where a setting stops it.
#pragma once

namespace tenon {

/// For main of a tool, before it has threads; a library leaves its program's environment alone.
/// Mesa's layer that chooses among Vulkan devices looks for a display when wgpu asks it, and
/// libwayland complains four times on stderr where XDG_RUNTIME_DIR is unset: it gets the value that
/// a login would have given it.
void quiet_drivers();

}  // namespace tenon
