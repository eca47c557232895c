// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole files, in and out, and what the kernel keeps in one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tenon::conformance {

/// Both throw with the path.
void write_file(const std::filesystem::path& path, const std::string& text);
std::string read_file(const std::filesystem::path& path);

/// Of a process, "self" or its number; 0 if there is none.
uint64_t resident_bytes(const std::string& process);

}  // namespace tenon::conformance
