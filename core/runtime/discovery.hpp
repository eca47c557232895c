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

/// One device as a probe saw it.
struct ProbedDevice {
  std::string id;  ///< "cpu:0"
  std::string kind, name, uuid, driver, target;
  bool selftest_ok = false;
  std::string reason;
};

/// What a child process found when it loaded one plugin.
struct ProbeResult {
  enum class Status { kOk, kRejected, kCrashed, kTimeout } status = Status::kRejected;
  std::string reason;  ///< also for kOk without devices
  uint32_t abi = 0;    ///< version spoken, or the newest that was found
  int priority = 0;
  std::string version;
  std::vector<ProbedDevice> devices;
};

/// Loads the file in a child process (the program `tenon-probe` beside the core library), and never
/// throws. `selftest`: also runs a tiny kernel on each device.
ProbeResult probe_plugin(const std::filesystem::path& path, bool selftest,
                         double timeout_seconds = 20);

}  // namespace tenon
