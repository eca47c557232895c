// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A probe: a plugin is loaded, used and left in a process of its own before any program loads it.
//
// The library starts `tenon-probe` and reads one line. That program forks: the child loads the
// plugin, opens each device, adds two vectors, and then returns from main as a program does; the
// parent bounds its time, memory and processes and says how it ended.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/plugin.h"

namespace tenon {

/// One device as a probe saw it.
struct ProbedDevice {
  std::string id;  ///< "cpu:0"
  std::string kind, name, uuid, driver, target;
  bool selftest_ok = false;
  std::string reason;
};

struct ProbeResult {
  enum class Status {
    kOk,
    kRejected,  ///< it is no plugin, or a bad one: what it did to the process, memory it took
    kCrashed,   ///< it ended the process
    kTimeout,
    kUnknown,  ///< no probe could be made: nothing is said of the plugin
  } status = Status::kRejected;
  std::string reason;  ///< also for kOk without devices
  uint32_t abi = 0;    ///< version spoken, or the newest that was found
  int priority = 0;
  std::string version;
  std::vector<ProbedDevice> devices;  ///< none unless kOk
};

constexpr double kProbeSeconds = 10;  ///< a first use of a driver may take several

/// Loads the file in a child process (the program `tenon-probe` beside the core library), and never
/// throws. `selftest`: also runs a tiny kernel on each device. Safe in several threads at once.
ProbeResult probe_plugin(const std::filesystem::path& path, bool selftest,
                         double timeout_seconds = kProbeSeconds);

// What the program tenon-probe (frontend/probe) shares with it.

inline constexpr int kProbeDescriptor = 3;  ///< to which a probe's processes write
/// Exit codes of the child: of one that went through exit() to its end, and of one that could not
/// write to its descriptor.
inline constexpr int kProbeLeft = 71, kProbeMuted = 72;

std::string probe_to_json(const ProbeResult& result);
/// Throws kInternal for a line that is not a whole result.
ProbeResult probe_from_json(std::string_view line);

std::string kind_name(uint32_t kind);              ///< "cpu"; "kind 77" for one of a newer plugin
std::string uuid_text(const uint8_t (&uuid)[16]);  ///< 32 digits with dashes; "" if all are zero

}  // namespace tenon
