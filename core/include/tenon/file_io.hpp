// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole files, in and out. All that Tenon's programs and its API read and write as a whole goes
// through here: texts, arrays, checkpoints, reports, reproducers, templates.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "tenon/export.hpp"

namespace tenon {

inline constexpr uint64_t kMostText = uint64_t{1} << 30;

/// The bytes of a regular file. Pipes, devices and folders are refused rather than waited for, and
/// so is more than `most_bytes`. Throws kEnvironment for what the system refuses, kInvalid for what
/// is no file to read, kOutOfMemory.
TENON_API std::string read_file(const std::filesystem::path& path, uint64_t most_bytes = kMostText);

/// The parts after each other become the file at once or not at all: they are written to a
/// temporary of a random name beside it, brought to the disk and renamed. An old file keeps its
/// mode and, if the system lets us, its owner. A symbolic link stays and its target is written;
/// pipes and devices are written through. In a folder that anyone may write, what belongs to
/// another user is refused. Throws kEnvironment with the path and the system's reason. kLater is
/// for thousands of files that can be made again: a crash of the machine may leave one empty.
enum class Sync { kNow, kLater };
TENON_API void write_file(const std::filesystem::path& path,
                          std::span<const std::string_view> parts, Sync sync = Sync::kNow);
TENON_API void write_file(const std::filesystem::path& path, std::string_view text,
                          Sync sync = Sync::kNow);

}  // namespace tenon
