// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon: lists devices, runs and shows graphs, lets models learn, starts new backends.
#include <CLI/CLI.hpp>

#include "core/plugin/driver_noise.hpp"
#include "core/support/error.hpp"
#include "core/support/output.hpp"
#include "frontend/cli/cli.hpp"
#include "frontend/cli/failure_text.hpp"
#include "frontend/cli/help_words.hpp"

namespace tenon::cli {

namespace {

int exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
    case ErrorKind::kUnsupported:
      return kUsage;
    case ErrorKind::kEnvironment:
    case ErrorKind::kOutOfMemory:
    case ErrorKind::kDeviceLost:
      return kEnvironmentFault;
    case ErrorKind::kInternal:
      return kFailures;
  }
  return kFailures;
}

int main(int argc, char** argv) {
  quiet_drivers();
  const std::vector<const char*> words = with_help_words(argc, argv);
  CLI::App app("Tensors on any device whose driver is a shared library.", "tenon");
  app.failure_message(failure_text);
  app.set_version_flag("--version", std::string("tenon ") + TENON_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 ok, 1 found failures, 2 bad usage or input, 3 environment.");
  int exit_code = kOk;
  add_devices(app, exit_code);
  add_run(app, exit_code);
  add_show(app, exit_code);
  add_grad(app, exit_code);
  add_train(app, exit_code);
  add_new_backend(app, exit_code);
  add_doctor(app, exit_code);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    if (complain_of_command(app, "tenon", words)) return kUsage;
    return app.exit(error) == 0 ? kOk : kUsage;
  } catch (const Error& error) {
    complain("tenon", error.what());
    return exit_code_of(error.kind());
  } catch (const std::exception& error) {
    complain("tenon", error.what());
    return kEnvironmentFault;
  }
  return exit_code;
}

}  // namespace
}  // namespace tenon::cli

int main(int argc, char** argv) {
  tenon::open_standard_streams();
  const int code = tenon::cli::main(argc, argv);
  return tenon::finish_output("tenon", code, tenon::cli::kEnvironmentFault);
}
