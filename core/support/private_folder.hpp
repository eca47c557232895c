// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders and files that no other user can change, so their contents can be trusted.
#pragma once

#include <filesystem>
#include <string>

namespace tenon {

/// Creates the folder with mode 0700, whatever the umask, or checks an existing one: no symbolic
/// link, owned by this user, mode 0700, below folders that no other user can replace. Returns an
/// error, or
/// "".
std::string make_private_folder(const std::filesystem::path& folder);

/// Removes read permission of others from a folder whose name only Tenon uses; older versions left
/// it. A folder that others can write is left, and make_private_folder refuses it.
void tighten_folder(const std::filesystem::path& folder);

/// Checks a file in it: a regular file of this user, with one link, that nobody else can write. A
/// missing file is accepted. Returns an error, or "".
std::string check_private_file(const std::filesystem::path& file);

}  // namespace tenon
