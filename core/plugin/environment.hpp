// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of environment variables, read with secure_getenv, and printed into
// docs/environment.md.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tenon/precision.hpp"

namespace tenon {

struct EnvironmentVariable {
  std::string_view name;      ///< "TENON_DEVICES"
  std::string_view value;     ///< form of the value: "selector", "0|1"
  std::string_view standard;  ///< the default, in words
  std::string_view meaning;
};

std::span<const EnvironmentVariable> environment_variables();
/// The value, or nullopt if unset. The name must be in the table.
std::optional<std::string> environment(std::string_view name);

/// The table as Markdown, for docs/environment.md.
std::string environment_markdown();

/// Parse values. All throw kInvalid with the name, the expected form and the value.
bool parse_flag(std::string_view name, std::string_view value);                     ///< "0" or "1"
double parse_seconds(std::string_view name, std::string_view value);                ///< 0.1 to 600
std::filesystem::path parse_folder(std::string_view name, std::string_view value);  ///< absolute
Precision parse_precision(std::string_view name, std::string_view value);
void check_log_channels(std::string_view name, std::string_view value);

/// $XDG_CACHE_HOME/tenon, else ~/.cache/tenon; empty if there is no home.
std::filesystem::path default_cache_dir();

}  // namespace tenon
