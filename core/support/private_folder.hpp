// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places on disk that no other user can change, and so may be believed.
#pragma once

#include <filesystem>
#include <string>

namespace tenon {

/// Makes the folder, with mode 0700 whatever the umask, or finds one: no symbolic link, owned by
/// this user, mode 0700, and below folders that no other user can exchange. Returns what is wrong,
/// or "".
std::string make_private_folder(const std::filesystem::path& folder);

/// For a folder whose name is ours alone: takes the others' right to read it, as older versions
/// left it. One that others may write stays what it is, and is refused above.
void tighten_folder(const std::filesystem::path& folder);

/// The same of a file in it: a regular file of this user with one name that nobody else may write.
/// A missing one is good.
std::string check_private_file(const std::filesystem::path& file);

}  // namespace tenon
