// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What plugins answered to their probes: asked once, remembered on disk and by the process.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/plugin/discovery.hpp"
#include "core/plugin/probe.hpp"
#include "core/support/disk_cache.hpp"

namespace tenon {

/// The answer of a plugin whose devices all pass their self-test holds until its file changes; one
/// that is bad until the day (UTC) ends, as a driver may be mended and a machine may have been
/// slow. One without devices is asked each time, since a driver can come. Not thread-safe.
class Probes {
 public:
  struct Options {
    double seconds = kProbeSeconds;
    bool afresh = false;  ///< what is remembered is not read, only written
    bool warns = true;    ///< one line for each plugin or device that is bad
  };
  Probes(std::shared_ptr<DiskCache> cache, Options options);

  /// Probes those that are not known, each in processes of its own, all at once.
  void ask(const std::vector<const PluginCandidate*>& candidates);
  const ProbeResult& of(const PluginCandidate& candidate);
  /// Prints "FILE is not used: why", if that is so and nobody was told yet.
  void warn(const PluginCandidate& candidate);

 private:
  ProbeResult remembered_or_asked(const std::filesystem::path& path) const;

  const std::shared_ptr<DiskCache> cache_;
  const Options options_;
  std::map<std::filesystem::path, ProbeResult> results_;
  std::set<std::filesystem::path> warned_;
};

}  // namespace tenon
