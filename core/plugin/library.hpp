// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loaded plugin: checked before, during and after loading, and never unloaded.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/plugin/discovery.hpp"
#include "tenon/plugin.h"

namespace tenon {

/// The oldest plugin ABI that this core supports.
inline constexpr uint32_t kOldestAbi = 1;

class PluginLibrary {
 public:
  /// Loads a plugin. Throws kEnvironment "[plugin] FILE: why" for a file that this core cannot use.
  static std::shared_ptr<PluginLibrary> load(const PluginCandidate& candidate);

  /// The full table. Functions that a shorter table lacks are null.
  const tn_plugin& table() const { return table_; }
  const std::string& backend() const { return backend_; }
  const std::filesystem::path& path() const { return path_; }
  /// Version and file of this build, for cache keys.
  const std::string& build() const { return build_; }

  /// All devices. If there is none, `reason` gets the explanation.
  std::vector<tn_device_info> enumerate(std::string& reason) const;

 private:
  PluginLibrary() = default;
  tn_plugin table_{};
  std::string backend_, build_;
  std::filesystem::path path_;
};

/// Why the file cannot be a plugin, found without running its code; empty if it can. Never throws.
std::string check_plugin_file(const std::filesystem::path& path);
/// Checks the table of `backend`. Returns the first error, or "".
std::string check_plugin_table(const tn_plugin* raw, const std::string& backend);
/// Checks that functions needed by a device with these tn_properties.flags exist. Returns the first
/// error, or "".
std::string check_device_functions(const tn_plugin& table, uint32_t flags);

/// Size, times of last change and inode of a file, as text for cache keys.
std::string file_identity(const std::filesystem::path& path);

const tn_host& host_table();

}  // namespace tenon
