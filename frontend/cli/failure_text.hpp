// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a command line program says of arguments that it cannot take: they may hold anything.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/support/printable.hpp"

namespace tenon::cli {

/// For CLI::App::failure_message, before subcommands are added.
inline std::string failure_text(const CLI::App* app, const CLI::Error& error) {
  return printable(CLI::FailureMessage::simple(app, error));
}

}  // namespace tenon::cli
