// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the subcommands of `tenon` share: exit codes, colour, the shape of a subcommand.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tenon::cli {

enum ExitCode { kOk = 0, kFailures = 1, kUsage = 2, kEnvironmentFault = 3 };

/// Adds a subcommand whose callback stores its exit code. Each lives in the file of its name.
void add_devices(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_show(CLI::App& app, int& exit_code);
void add_new_backend(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);

/// True where standard output is a terminal and NO_COLOR is not set.
bool use_color();
/// The text in a terminal colour ("32" green, "31" red, "2" dim) if colours are used.
std::string paint(const std::string& text, const char* code);

/// Whole file. Throws kEnvironment with the system's message.
std::string read_file(const std::string& path);

}  // namespace tenon::cli
