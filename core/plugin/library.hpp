// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One loaded plugin: checked before, while and after loading, and never unloaded.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/plugin/discovery.hpp"
#include "tenon/plugin.h"

namespace tenon {

/// The oldest plugin ABI that this core still speaks.
inline constexpr uint32_t kOldestAbi = 1;

class PluginLibrary {
 public:
  /// Throws kEnvironment "[plugin] FILE: why" for anything that is not a plugin this core can use.
  static std::shared_ptr<PluginLibrary> load(const PluginCandidate& candidate);

  /// A complete table: what a shorter one lacks is null.
  const tn_plugin& table() const { return table_; }
  const std::string& backend() const { return backend_; }
  const std::filesystem::path& path() const { return path_; }
  /// Version and file of this build, for cache keys.
  const std::string& build() const { return build_; }

  /// All devices; `reason` says why there is none.
  std::vector<tn_device_info> enumerate(std::string& reason) const;

 private:
  PluginLibrary() = default;
  tn_plugin table_{};
  std::string backend_, build_;
  std::filesystem::path path_;
};

/// Why the file cannot be a plugin, told without running its code; empty if it can. Never throws.
std::string check_plugin_file(const std::filesystem::path& path);
/// What is wrong with a table that claims to be of `backend`; empty if nothing is.
std::string check_plugin_table(const tn_plugin* raw, const std::string& backend);
/// What is missing for a device with these tn_properties.flags; empty if nothing is.
std::string check_device_functions(const tn_plugin& table, uint32_t flags);

/// Size, times of last change and inode of a file, as text for cache keys.
std::string file_identity(const std::filesystem::path& path);

const tn_host& host_table();

}  // namespace tenon
