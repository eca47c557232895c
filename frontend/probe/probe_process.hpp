// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program tenon-probe: a process that watches, and its child that loads the plugin.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/plugin/probe.hpp"

namespace tenon {

/// FILE SECONDS [--selftest]: writes one line to kProbeDescriptor, which the library reads.
int probe_main(int argc, char** argv);

/// Loads the plugin into this process; `at` hears of each stage as "in device_enumerate". Never
/// throws, may crash.
ProbeResult probe_here(const std::filesystem::path& path, bool selftest,
                       const std::function<void(const std::string&)>& at);
/// The child's side; what it returns is what main should.
int probe_child(const std::filesystem::path& path, bool selftest);

}  // namespace tenon
