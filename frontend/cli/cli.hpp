// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the subcommands of `tenon` share: exit codes, colour, the shape of a subcommand.
#pragma once

namespace CLI {
class App;
}

namespace tenon::cli {

enum ExitCode { kOk = 0, kFailures = 1, kUsage = 2, kEnvironmentFault = 3 };

/// Adds a subcommand whose callback stores its exit code. Each lives in the file of its name.
void add_devices(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_show(CLI::App& app, int& exit_code);
void add_grad(CLI::App& app, int& exit_code);
void add_train(CLI::App& app, int& exit_code);
void add_new_backend(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);

}  // namespace tenon::cli
