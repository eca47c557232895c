// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds plugin files, with the reason why each is taken or refused. Loads nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

struct PluginCandidate {
  std::filesystem::path path;
  std::string backend;    ///< from the file name
  std::string source;     ///< which rule found it: "TENON_PLUGIN_PATH", "beside the library", ...
  bool shadowed = false;  ///< an earlier candidate has this backend
  std::string refused{};  ///< why it must not be loaded, as: other users can write to it; or ""
  /// Whether it serves its backend.
  bool serves() const { return !shadowed && refused.empty(); }
};

struct DiscoveryOptions {
  std::vector<std::filesystem::path> plugins;  ///< files given by the API, searched first
  std::optional<std::string> env_plugins;      ///< TENON_PLUGINS
  std::optional<std::string> env_plugin_path;  ///< TENON_PLUGIN_PATH
};

/// Candidates in order of preference, deduplicated by real path, and messages about the options: a
/// missing file, an unreadable folder.
struct Discovery {
  std::vector<PluginCandidate> candidates;
  std::vector<std::string> problems;
  bool bad_value = false;  ///< the first problem is text that means nothing, not what it names
};
Discovery discover_plugins(const DiscoveryOptions& options);
/// The plugins that this process would use: `first`, then those of the environment.
Discovery installed_plugins(std::vector<std::filesystem::path> first = {});
/// The candidate that serves a backend.
const PluginCandidate* find_backend(const Discovery& found, std::string_view backend);

/// "cpu" for ".../libtenon_cpu.so"; "" for another name.
std::string backend_of_file(const std::filesystem::path& path);

}  // namespace tenon
