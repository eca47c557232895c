// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole files, in and out. Both throw kEnvironment with the path.
#pragma once

#include <filesystem>
#include <string>

namespace tenon::conformance {

void write_file(const std::filesystem::path& path, const std::string& text);
std::string read_file(const std::filesystem::path& path);

}  // namespace tenon::conformance
