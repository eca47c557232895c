// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds plugin files and says of each why it is taken or refused. Nothing is loaded that was not
// asked for.
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
  std::string refused{};  ///< why nothing of it may be loaded: others can write to it, ...; or ""
  /// False for what serves no backend.
  bool serves() const { return !shadowed && refused.empty(); }
};

struct DiscoveryOptions {
  std::vector<std::filesystem::path> plugins;  ///< the explicit API path: files, come first
  std::optional<std::string> env_plugins;      ///< TENON_PLUGINS
  std::optional<std::string> env_plugin_path;  ///< TENON_PLUGIN_PATH
};

/// Candidates in order of preference, deduplicated by real path, and problems with what the options
/// name (a missing file, a folder that cannot be read), as sentences.
struct Discovery {
  std::vector<PluginCandidate> candidates;
  std::vector<std::string> problems;
};
Discovery discover_plugins(const DiscoveryOptions& options);
/// What this process would use: `first`, then as the environment says.
Discovery installed_plugins(std::vector<std::filesystem::path> first = {});
/// The candidate that serves a backend.
const PluginCandidate* find_backend(const Discovery& found, std::string_view backend);

/// "cpu" for ".../libtenon_cpu.so"; "" for another name.
std::string backend_of_file(const std::filesystem::path& path);

}  // namespace tenon
