// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/plugin/discovery.hpp"

#if !defined(_WIN32)
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <set>

#include "core/plugin/environment.hpp"
#include "core/plugin/install_paths.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

namespace fs = std::filesystem;

#if defined(_WIN32)
constexpr char kSeparator = ';';
constexpr std::string_view kSuffix = ".dll";
#elif defined(__APPLE__)
constexpr char kSeparator = ':';
constexpr std::string_view kSuffix = ".dylib";
#else
constexpr char kSeparator = ':';
constexpr std::string_view kSuffix = ".so";
#endif
constexpr std::string_view kPrefix = "libtenon_";

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(kSeparator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

#if defined(_WIN32)
std::string why_untrusted(const fs::path&) { return ""; }
#else
/// Why another user could have written the file or folder. "" if only this user, root and the owner
/// of the core could.
std::string why_untrusted(const fs::path& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return "";  // an unreadable file is refused later
  struct stat core {};
  const bool has_core = stat(core_file().c_str(), &core) == 0;
  const char* what = S_ISDIR(facts.st_mode) ? "folder" : "file";
  if ((facts.st_mode & S_IWOTH) != 0)
    return fmt::format("expected a {} that not everyone can write, got {} with mode {:04o}", what,
                       path.string(), facts.st_mode & 07777);
  const uid_t owner = facts.st_uid;
  if (owner != geteuid() && owner != 0 && !(has_core && owner == core.st_uid))
    return fmt::format(
        "expected a {} of this user, of root or of the owner of the core library, got {} of user "
        "{}",
        what, path.string(), owner);
  return "";
}
#endif

class PluginSearch {
 public:
  void file(const fs::path& path, const std::string& source) {
    TN_LOG("loader", "{}: trying {}", source, path.string());
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error)
      return problem("[{}] expected a plugin file, got '{}': {}", source, path.string(),
                     error.message());
    const std::string backend = backend_of_file(path);
    if (backend.empty())
      return bad_value("[{}] expected a file named libtenon_<backend>{}, got '{}'", source, kSuffix,
                       path.string());
    add(fs::absolute(path, error).lexically_normal(), real, backend, source, "");
  }

  /// Adds the plugins of a folder. `must_exist`: the user named it. Refuses files that other users
  /// could have put there.
  void folder(const fs::path& path, const std::string& source, bool must_exist) {
    TN_LOG("loader", "{}: searching {}", source, path.string());
    std::error_code error;
    fs::directory_iterator entries(path, error);
    std::vector<fs::path> files;
    for (; !error && entries != fs::directory_iterator(); entries.increment(error))
      if (!backend_of_file(entries->path()).empty()) files.push_back(entries->path());
    const bool is_absent = error == std::errc::no_such_file_or_directory ||
                           error == std::errc::not_a_directory ||
                           error == std::errc::permission_denied;
    if (error && (must_exist || !is_absent))  // too many open files, or a failing disk
      return problem("[{}] expected a folder, got '{}': {}", source, path.string(),
                     error.message());
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      fs::path real = fs::canonical(file, error);
      if (error) real = file;
      std::string why = why_untrusted(path);
      if (why.empty()) why = why_untrusted(real);
      if (why.empty()) why = why_untrusted(real.parent_path());
      if (!why.empty()) why += "; TENON_PLUGINS can name it";
      add(file, real, backend_of_file(file), source, std::move(why));
    }
  }

  template <class... Args>
  void bad_value(fmt::format_string<Args...> format, Args&&... args) {
    result.bad_value = result.bad_value || result.problems.empty();
    problem(format, std::forward<Args>(args)...);
  }

  template <class... Args>
  void problem(fmt::format_string<Args...> format, Args&&... args) {
    result.problems.push_back(fmt::format(format, std::forward<Args>(args)...));
    TN_LOG("loader", "{}", result.problems.back());
  }

  Discovery result;

 private:
  /// A file may be found by several names (links); its real name counts.
  void add(fs::path path, const fs::path& real, const std::string& backend,
           const std::string& source, std::string refused) {
    if (!seen_.emplace(real, backend).second) return;
    PluginCandidate candidate{std::move(path), backend, source, false, std::move(refused)};
    if (candidate.refused.empty()) candidate.shadowed = !backends_.insert(backend).second;
    TN_LOG("loader", "{}: found {}{}{}", source, candidate.path.string(),
           candidate.shadowed ? " (shadowed)" : "",
           candidate.refused.empty() ? "" : " (refused: " + candidate.refused + ")");
    result.candidates.push_back(std::move(candidate));
  }

  std::set<std::pair<fs::path, std::string>> seen_;
  std::set<std::string> backends_;
};

}  // namespace

std::string backend_of_file(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix) ||
      name.size() <= kPrefix.size() + kSuffix.size())
    return "";
  const std::string backend =
      name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return std::ranges::all_of(backend, legal) ? backend : "";
}

Discovery discover_plugins(const DiscoveryOptions& options) {
  PluginSearch search;
  for (const fs::path& path : options.plugins) search.file(path, "the API");
  if (options.env_plugins) {
    for (const std::string& part : split(*options.env_plugins)) {
      if (part.empty()) {
        search.bad_value("[TENON_PLUGINS] expected files separated by '{}', got '{}'", kSeparator,
                         *options.env_plugins);
      } else {
        search.file(part, "TENON_PLUGINS");
      }
    }
    return std::move(search.result);
  }
  if (options.env_plugin_path) {
    for (const std::string& part : split(*options.env_plugin_path)) {
      if (!fs::path(part).is_absolute()) {
        search.bad_value(
            "[TENON_PLUGIN_PATH] expected absolute folders separated by '{}', got '{}'", kSeparator,
            part);
      } else {
        search.folder(part, "TENON_PLUGIN_PATH", true);
      }
    }
  }
  bool beside = true;
  for (const fs::path& folder : plugin_folders()) {
    search.folder(folder, beside ? "beside the core library" : "the install folder", false);
    beside = false;
  }
  return std::move(search.result);
}

Discovery installed_plugins(std::vector<fs::path> first) {
  return discover_plugins(
      {std::move(first), environment("TENON_PLUGINS"), environment("TENON_PLUGIN_PATH")});
}

const PluginCandidate* find_backend(const Discovery& found, std::string_view backend) {
  const auto serves = [&](const PluginCandidate& c) { return c.serves() && c.backend == backend; };
  const auto at = std::ranges::find_if(found.candidates, serves);
  return at == found.candidates.end() ? nullptr : &*at;
}

}  // namespace tenon
