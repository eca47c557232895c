// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Paths of this copy of the core and of files beside it.
#pragma once

#include <filesystem>
#include <vector>

namespace tenon {

/// libtenon.so, or the program it is linked into; empty if unknown.
std::filesystem::path core_file();
/// Folder of core_file(); empty if unknown.
std::filesystem::path core_folder();
/// Folders that hold plugins: beside the core, then the install folder.
std::vector<std::filesystem::path> plugin_folders();
/// The program tenon-probe; empty if it is missing.
std::filesystem::path probe_program();

}  // namespace tenon
