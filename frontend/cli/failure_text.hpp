// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a command line program says of arguments that it cannot take: they may hold anything.
#pragma once

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/output.hpp"
#include "core/support/printable.hpp"

namespace tenon::cli {

/// For CLI::App::failure_message, before subcommands are added.
inline std::string failure_text(const CLI::App* app, const CLI::Error& error) {
  return printable(CLI::FailureMessage::simple(app, error));
}

/// Says of a first word that is no command which ones there are; false of another mistake. CLI11
/// says then that a subcommand is required.
inline bool complain_of_command(const CLI::App& app, std::string_view program,
                                const std::vector<const char*>& words) {
  if (words.size() < 2 || words[1][0] == '-') return false;
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name() == words[1]) return false;
    if (!sub->get_group().empty()) names.push_back(sub->get_name());
  }
  complain(program, fmt::format("expected {}, got '{}'", fmt::join(names, ", "), words[1]));
  return true;
}

}  // namespace tenon::cli
