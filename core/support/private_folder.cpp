// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/private_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kPrivate = S_IRWXU;

std::string system_says(const fs::path& path) {
  return fmt::format("{}: {}", path.string(), std::strerror(errno));
}

/// 0, or -1 with errno. Parent folders get the same mode, as the XDG specification requires.
int make(const fs::path& folder) {
  if (mkdir(folder.c_str(), kPrivate) == 0) return chmod(folder.c_str(), kPrivate);
  if (errno == EEXIST) return 0;
  const fs::path above = folder.parent_path();
  if (errno != ENOENT || above.empty() || above == folder || make(above) != 0) return -1;
  if (mkdir(folder.c_str(), kPrivate) != 0) return errno == EEXIST ? 0 : -1;
  return chmod(folder.c_str(), kPrivate);
}

/// Whether the owner is this user or root, or the id that root has where user ids are mapped.
bool is_trusted(uid_t owner) {
  struct stat root = {};
  return owner == geteuid() || owner == 0 || (stat("/", &root) == 0 && owner == root.st_uid);
}

/// Why another user could rename a parent folder, or "".
std::string check_above(const fs::path& folder) {
  for (fs::path path = folder; path.has_relative_path();) {
    path = path.parent_path();
    struct stat itself = {}, target = {};
    if (lstat(path.c_str(), &itself) != 0 || stat(path.c_str(), &target) != 0)
      return system_says(path);
    for (const struct stat& facts : {itself, target})
      if (!is_trusted(facts.st_uid))
        return fmt::format("{}: expected a folder above it of this user or root, got user {}'s",
                           path.string(), facts.st_uid);
    if ((target.st_mode & S_IWOTH) && !(target.st_mode & S_ISVTX))
      return fmt::format(
          "{}: expected a folder above it that not everyone may write, got mode {:04o}",
          path.string(), target.st_mode & 07777);
  }
  return "";
}

}  // namespace

std::string make_private_folder(const fs::path& folder) {
  fs::path path = folder.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "x/" would follow a link x
  if (path.native().find('\0') != std::string::npos) return "expected a path without NUL";
  if (make(path) != 0) return system_says(path);
  struct stat facts = {};
  if (lstat(path.c_str(), &facts) != 0) return system_says(path);
  if (!S_ISDIR(facts.st_mode))
    return fmt::format("{}: expected a folder, got {}", path.string(),
                       S_ISLNK(facts.st_mode) ? "a symbolic link" : "another file");
  if (facts.st_uid != geteuid())
    return fmt::format("{}: expected a folder of user {}, got user {}'s", path.string(), geteuid(),
                       facts.st_uid);
  if ((facts.st_mode & 0777) != kPrivate)
    return fmt::format("{}: expected a folder of mode 0700, got {:04o} (chmod 700 makes it so)",
                       path.string(), facts.st_mode & 07777);
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return fmt::format("{}: {}", path.string(), error.message());
  const std::string why = check_above(fs::absolute(path));
  return why.empty() ? check_above(real) : why;
}

void tighten_folder(const fs::path& folder) {
  struct stat facts = {};
  if (lstat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() &&
      !(facts.st_mode & (S_IWGRP | S_IWOTH)))
    chmod(folder.c_str(), kPrivate);
}

std::string check_private_file(const fs::path& file) {
  struct stat facts = {};
  if (lstat(file.c_str(), &facts) != 0) return errno == ENOENT ? "" : system_says(file);
  if (!S_ISREG(facts.st_mode))
    return fmt::format("{}: expected a regular file, got {}", file.string(),
                       S_ISLNK(facts.st_mode) ? "a symbolic link" : "another kind");
  if (facts.st_uid != geteuid())
    return fmt::format("{}: expected a file of user {}, got user {}'s", file.string(), geteuid(),
                       facts.st_uid);
  if (facts.st_mode & (S_IWGRP | S_IWOTH))
    return fmt::format("{}: expected a file that only its owner may write, got mode {:04o}",
                       file.string(), facts.st_mode & 07777);
  if (facts.st_nlink > 1)
    return fmt::format("{}: expected a file of one name, got {} names", file.string(),
                       facts.st_nlink);
  return "";
}

}  // namespace tenon
