// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A probe: a plugin is loaded and used in a process of its own before any program loads it.
//
// The library starts `tenon-probe` and reads one line. That program forks: the child loads the
// plugin, opens each device, adds two vectors, and returns from main. The parent limits time,
// memory and processes of the child and reports how it ended.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/plugin.h"

namespace tenon {

/// The result of a probe for one device.
struct ProbedDevice {
  std::string id;  ///< "cpu:0"
  std::string kind, name, uuid, driver, target;
  bool selftest_ok = false;
  std::string reason;
};

struct ProbeResult {
  enum class Status {
    kOk,
    kRejected,  ///< not a plugin, or a bad one: it changed process state or took too much memory
    kCrashed,   ///< the process crashed or exited
    kTimeout,
    kUnknown,  ///< the probe could not run
  } status = Status::kRejected;
  std::string reason;  ///< also for kOk without devices
  uint32_t abi = 0;    ///< negotiated version, or the newest that the plugin has
  int priority = 0;
  std::string version;
  std::vector<ProbedDevice> devices;  ///< none unless kOk
};

constexpr double kProbeSeconds = 10;  ///< the first use of a driver may take several

/// Probes a file with the program `tenon-probe` beside the core library. Never throws. `selftest`:
/// also runs a tiny kernel on each device. Thread-safe.
ProbeResult probe_plugin(const std::filesystem::path& path, bool selftest,
                         double timeout_seconds = kProbeSeconds);

// Shared with the program tenon-probe (frontend/probe).

inline constexpr int kProbeDescriptor = 3;  ///< descriptor that processes of a probe write to
/// Exit codes of the child: kProbeLeft if it passed through exit(), kProbeMuted if it could not
/// write to its descriptor.
inline constexpr int kProbeLeft = 71, kProbeMuted = 72;

std::string probe_to_json(const ProbeResult& result);
/// Throws kInternal for a line that is not a complete result.
ProbeResult probe_from_json(std::string_view line);

std::string kind_name(uint32_t kind);              ///< "cpu"; "kind 77" for one of a newer plugin
std::string uuid_text(const uint8_t (&uuid)[16]);  ///< 32 digits with dashes; "" if all are zero

}  // namespace tenon
