// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where this copy of the core lies, and what lies beside it.
#pragma once

#include <filesystem>
#include <vector>

namespace tenon {

/// libtenon.so, or the program it is linked into; empty if the system does not say.
std::filesystem::path core_file();
/// Folder of libtenon.so, or of the program it is linked into; empty if the system does not say.
std::filesystem::path core_folder();
/// Folders that hold plugins: beside the core, then the install folder.
std::vector<std::filesystem::path> plugin_folders();
/// The program tenon-probe; empty if it is not there.
std::filesystem::path probe_program();

}  // namespace tenon
