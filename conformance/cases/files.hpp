// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole files, in and out, and what the kernel keeps of a process in one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/support/file_io.hpp"

namespace tenon::conformance {

/// As that of core/support; every error is kInvalid.
std::string read_file(const std::filesystem::path& path);

/// Of a process, "self" or its number; 0 if there is none.
uint64_t resident_bytes(const std::string& process);

}  // namespace tenon::conformance
