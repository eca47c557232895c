// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cached probe results, on disk and in memory.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/plugin/discovery.hpp"
#include "core/plugin/probe.hpp"
#include "core/support/disk_cache.hpp"

namespace tenon {

/// A good result, where all devices pass their self-test, holds until the file changes. A bad one
/// holds until the day (UTC) ends, as a driver may be fixed and the machine may have been slow. A
/// plugin without devices is probed each time, as a driver may be installed. Not thread-safe.
class Probes {
 public:
  struct Options {
    double seconds = kProbeSeconds;
    bool afresh = false;  ///< cached results are replaced, not read
    bool warns = true;    ///< one line for each plugin or device that is bad
  };
  Probes(std::shared_ptr<DiskCache> cache, Options options);

  /// Probes candidates that are not cached, in parallel, each in its own processes.
  void ask(const std::vector<const PluginCandidate*>& candidates);
  const ProbeResult& of(const PluginCandidate& candidate);
  /// Prints "FILE is not used: why" for a bad plugin, once.
  void warn(const PluginCandidate& candidate);

 private:
  ProbeResult remembered_or_asked(const std::filesystem::path& path) const;

  const std::shared_ptr<DiskCache> cache_;
  const Options options_;
  std::map<std::filesystem::path, ProbeResult> results_;
  std::set<std::filesystem::path> warned_;
};

}  // namespace tenon
