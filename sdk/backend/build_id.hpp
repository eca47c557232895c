// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Identifies the build of a plugin.
#pragma once

#include <string>

namespace tenon::sdk {

/// The GNU build id, in hexadecimal, of the shared library that contains the sdk; empty if there is
/// none.
std::string build_id();

}  // namespace tenon::sdk
