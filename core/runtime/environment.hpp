// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The environment variables: one table, read with secure_getenv, printed into docs/environment.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

struct EnvironmentVariable {
  std::string_view name;      ///< "TENON_DEVICES"
  std::string_view value;     ///< form of the value: "selector", "0|1"
  std::string_view standard;  ///< what is so when it is unset
  std::string_view meaning;
};

std::span<const EnvironmentVariable> environment_variables();
/// nullopt if unset; the name must be in the table.
std::optional<std::string> environment(std::string_view name);

}  // namespace tenon
