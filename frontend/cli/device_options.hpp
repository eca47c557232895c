// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --devices and --plugin, of the commands that run something.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/plugin/discovery.hpp"
#include "core/support/error.hpp"
#include "tenon/context_options.hpp"

namespace tenon::cli {

struct DeviceOptions {
  std::string devices, plugin;

  CLI::Option* add(CLI::App* command) {
    command->add_option("--plugin", plugin,
                        "A plugin's file, libtenon_BACKEND.so; its backend is the device where "
                        "--devices names none");
    return command->add_option("--devices", devices, "Devices, as in TENON_DEVICES");
  }

  ContextOptions context() const {
    ContextOptions options;
    if (!devices.empty()) options.devices = devices;
    if (plugin.empty()) return options;
    const std::string backend = backend_of_file(plugin);
    TN_REQUIRE(!backend.empty(), "[--plugin] expected a file libtenon_BACKEND.so, got '{}'",
               plugin);
    options.plugins = {plugin};
    if (devices.empty()) options.devices = backend;
    return options;
  }
};

}  // namespace tenon::cli
