// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/plugin/library.hpp"

#if !defined(_WIN32)
#include <sys/stat.h>
#endif

#include <algorithm>
#include <boost/dll/library_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <deque>
#include <set>

#include "core/plugin/abi_struct.hpp"
#include "core/plugin/elf_check.hpp"
#include "core/plugin/status.hpp"
#include "core/support/exit_delay.hpp"
#include "core/support/fork_handlers.hpp"
#include "core/support/log.hpp"
#include "core/support/process.hpp"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kMostDevices = 4096;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  TN_LOG("loader", "{} refused: {}", path.string(), why);
  throw Error(ErrorKind::kEnvironment, fmt::format("[plugin] {}: {}", path.string(), why));
}

/// Libraries are never closed: unloading would run destructors while threads of drivers run.
/// Process-wide, like the state of the system's loader.
struct OpenLibraries {
  ForkSafeMutex mutex;
  std::deque<boost::dll::shared_library> libraries;
  std::set<std::string> asked;  ///< paths of plugins that were asked for devices
};

OpenLibraries& open_libraries() {
  static auto& instance = *new OpenLibraries();
  return instance;
}
/// Made at load: a child of fork would hang if a thread of its parent was constructing it.
[[maybe_unused]] const OpenLibraries& open_libraries_made_at_load = open_libraries();

boost::dll::shared_library& keep(boost::dll::shared_library library) {
  const std::lock_guard lock(open_libraries().mutex);
  open_libraries().libraries.push_back(std::move(library));
  return open_libraries().libraries.back();
}

}  // namespace

std::string check_plugin_file(const fs::path& path) {
  if (std::string why = check_shared_library(path); !why.empty()) return why;
  try {
    const std::vector<std::string> symbols = boost::dll::library_info(path).symbols();
    if (std::ranges::find(symbols, TN_PLUGIN_QUERY) != symbols.end()) return "";
    return "is not a Tenon plugin: it does not export " TN_PLUGIN_QUERY;
  } catch (const std::exception& error) {
    return fmt::format("its symbols cannot be read: {}", error.what());
  }
}

std::string file_identity(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  const auto time = fs::last_write_time(path, error);
  std::string text = fmt::format("{} {}", size, time.time_since_epoch().count());
#if !defined(_WIN32)
  struct stat facts {};  // users can set mtime, but not ctime
  if (stat(path.c_str(), &facts) == 0)
    text += fmt::format(" {} {} {}", facts.st_ino, facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec);
#endif
  return text;
}

std::shared_ptr<PluginLibrary> PluginLibrary::load(const PluginCandidate& candidate) {
  const ExitDelay delay;
  const fs::path& path = candidate.path;
  TN_LOG("loader", "loading {}", path.string());
  if (const std::string why = check_plugin_file(path); !why.empty()) refuse(path, why);
  tn_plugin_query_fn query = nullptr;
  try {
    using boost::dll::load_mode::type;
    boost::dll::shared_library& library = keep(boost::dll::shared_library(
        path, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local));
    query = &library.get<const tn_plugin*(const tn_host*, uint32_t, uint32_t, tn_error*)>(
        TN_PLUGIN_QUERY);
  } catch (const std::exception& error) {
    refuse(path, fmt::format("the loader says: {}", error.what()));
  }
  tn_error error = abi_struct<tn_error>();
  const tn_plugin* raw = query(&host_table(), kOldestAbi, TN_ABI_VERSION, &error);
  if (!raw) {
    const bool has_said = error.code != TN_OK || error.message[0] != '\0';
    refuse(path,
           fmt::format("it does not speak ABI version {} to {}: {}", kOldestAbi, TN_ABI_VERSION,
                       has_said ? error_message(error.code, error)
                                : "tn_plugin_query gave no table and no reason"));
  }
  if (const std::string why = check_plugin_table(raw, candidate.backend); !why.empty())
    refuse(path, why);
  std::shared_ptr<PluginLibrary> library(new PluginLibrary);
  library->table_ = abi_read(raw);
  library->backend_ = candidate.backend;
  library->path_ = path;
  library->build_ = fmt::format("{} {}", library->table_.version, file_identity(path));
  TN_LOG("loader", "{} loaded: version {}, ABI {}", path.string(), library->table_.version,
         library->table_.abi_version);
  return library;
}

std::vector<tn_device_info> PluginLibrary::enumerate(std::string& reason) const {
  tn_error error = abi_struct<tn_error>();
  char why[512] = {};
  uint32_t count = 0;
  const std::string who = path_.string();
  check_status(
      table_.device_enumerate(0, sizeof(tn_device_info), nullptr, sizeof why, why, &count, &error),
      error, "enumerate", who);
  if (count > kMostDevices)
    refuse(path_, fmt::format("expected at most {} devices, got {}", kMostDevices, count));
  std::vector<tn_device_info> infos(count, abi_struct<tn_device_info>());
  const uint32_t capacity = count;
  if (count > 0) {
    check_status(table_.device_enumerate(capacity, sizeof(tn_device_info), infos.data(), sizeof why,
                                         why, &count, &error),
                 error, "enumerate", who);
    infos.resize(std::min(count, capacity));
  }
  bool is_first = false;
  {
    const std::lock_guard lock(open_libraries().mutex);
    is_first = open_libraries().asked.insert(who).second;
  }
  if (is_first) register_fork_handlers();
  reason = fixed_string(why);
  if (infos.empty() && reason.empty()) reason = "the plugin found no device and did not say why";
  return infos;
}

}  // namespace tenon
