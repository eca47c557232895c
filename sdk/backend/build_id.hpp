// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which build of a plugin this is.
#pragma once

#include <string>

namespace tenon::sdk {

/// The GNU build id, in hexadecimal, of the shared library that the sdk is linked into; empty where
/// there is none.
std::string build_id();

}  // namespace tenon::sdk
