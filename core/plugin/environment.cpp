// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/plugin/environment.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/support/error.hpp"
#include "core/support/log.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon {
namespace {

constexpr EnvironmentVariable kVariables[] = {
    {"TENON_DEVICES", "selector", "what passes its self-test; gpu, accelerator, cpu, storage",
     "Devices in order of priority, as `cuda:0@pool=2G,vulkan@optional,cpu`; the first is the "
     "default. What is named here and is not there is an error."},
    {"TENON_PLUGINS", "files, separated by :", "search the folders",
     "Plugin files; no folder is searched then."},
    {"TENON_PLUGIN_PATH", "folders, separated by :", "none",
     "Absolute folders searched for `libtenon_<backend>.so` before the folder beside the core "
     "library and the install folder."},
    {"TENON_LOG", "channels, separated by ,", "none",
     "Log lines on stderr: all, cache, compile (each pass with its time), loader, memory, plan, "
     "plugin, program (the text of each kernel), random, rewrite, runtime, schedule, trace."},
    {"TENON_CACHE_DIR", "folder", "$XDG_CACHE_HOME/tenon or ~/.cache/tenon",
     "Absolute folder of compiled kernels and probe results, shared by all processes of a user. It "
     "is "
     "used if it is new or this user's alone (mode 0700, no symbolic link)."},
    {"TENON_MATMUL", "exact, tf32 or bf16", "exact",
     "What the factors of f32 contractions may be cut to before they are multiplied. A permission: "
     "a "
     "device whose exact units are as fast, as the CPU, keeps every bit. Asked for, exact also "
     "keeps subnormals of "
     "narrow factors."},
    {"TENON_PROBE_SECONDS", "0.1 to 600", "10",
     "How long a plugin may take to answer its probe. One that takes longer is not used."},
    {"TENON_PROFILE", "0 or 1", "0",
     "1: every kernel runs alone, and a table of what each has taken is printed on stderr when the "
     "context goes or the process ends."},
    {"TENON_VALIDATE", "0 or 1", "0",
     "1: checks every kernel against the reference and stops at the first that differs."},
};

const char* read_variable(const char* name) {
#if defined(__GLIBC__)
  return secure_getenv(name);
#else
  return std::getenv(name);
#endif
}

}  // namespace

std::span<const EnvironmentVariable> environment_variables() { return kVariables; }

std::optional<std::string> environment(std::string_view name) {
  const auto known = [&](const EnvironmentVariable& v) { return v.name == name; };
  TN_ASSERT(std::ranges::any_of(kVariables, known));
  const char* value = read_variable(std::string(name).c_str());
  if (!value) return std::nullopt;
  return value;
}

std::string environment_markdown() {
  std::string text = "| variable | value | when unset | meaning |\n|---|---|---|---|\n";
  for (const EnvironmentVariable& v : kVariables)
    text += fmt::format("| `{}` | {} | {} | {} |\n", v.name, v.value, v.standard, v.meaning);
  return text;
}

bool parse_flag(std::string_view name, std::string_view value) {
  TN_REQUIRE(value == "0" || value == "1", "[{}] expected 0 or 1, got '{}'", name, value);
  return value == "1";
}

Precision parse_precision(std::string_view name, std::string_view value) {
  const std::optional<Precision> found = precision_from_name(value);
  TN_REQUIRE(found, "[{}] expected exact, tf32 or bf16, got '{}'", name, value);
  return *found;
}

double parse_seconds(std::string_view name, std::string_view value) {
  const auto seconds = sdk::number_of<double>(value);
  TN_REQUIRE(seconds && *seconds >= 0.1 && *seconds <= 600,
             "[{}] expected seconds from 0.1 to 600, got '{}'", name, value);
  return *seconds;
}

std::filesystem::path parse_folder(std::string_view name, std::string_view value) {
  std::filesystem::path path(value);
  TN_REQUIRE(path.is_absolute(), "[{}] expected an absolute folder, got '{}'", name, value);
  return path;
}

void check_log_channels(std::string_view name, std::string_view value) {
  for (std::optional<std::string_view> rest = value; rest;) {
    const size_t comma = rest->find(',');
    const std::string_view channel = rest->substr(0, comma);
    TN_REQUIRE(channel == "all" || std::ranges::count(kLogChannels, channel) > 0,
               "[{}] expected channels out of all, {}, got '{}'", name,
               fmt::join(kLogChannels, ", "), channel);
    rest = comma == std::string_view::npos ? std::nullopt : std::optional(rest->substr(comma + 1));
  }
}

std::filesystem::path default_cache_dir() {
  if (const char* xdg = read_variable("XDG_CACHE_HOME"); xdg && xdg[0] == '/')
    return std::filesystem::path(xdg) / "tenon";
  if (const char* home = read_variable("HOME"); home && home[0] == '/')
    return std::filesystem::path(home) / ".cache" / "tenon";
  return {};
}

}  // namespace tenon
