// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is this file a whole shared library for this machine? Asked before Boost.DLL and the system's
// loader, which trust offsets and sizes: a truncated file makes them crash. libelf reads what there
// is and does not ask whether all of it lies inside the file, which is the whole question here.
#pragma once

#include <filesystem>
#include <string>

namespace tenon {

/// Empty if every header, segment and section lies inside the file, else why not. Never throws.
std::string check_shared_library(const std::filesystem::path& path);

}  // namespace tenon
