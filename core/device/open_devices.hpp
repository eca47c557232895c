// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a selector and the plugins that were found to open devices.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device/device.hpp"
#include "core/device/selector.hpp"
#include "core/plugin/discovery.hpp"
#include "core/plugin/probes.hpp"

namespace tenon {

struct OpenOptions {
  std::optional<std::string> selector;  ///< none: what passes its probe
  std::string origin;                   ///< "TENON_DEVICES": named in errors
  DeviceOptions device;                 ///< guard zones
  std::shared_ptr<DiskCache> cache;     ///< never null
  bool disk_cache = true;               ///< executables are kept in it
  bool require_compute = true;          ///< of the first device
  bool probe = true;                    ///< false: as @noprobe on every term
  std::shared_ptr<Probes> probes;       ///< never null
};

/// Opens what a selector names at once, and what is merely on offer when it is first asked for.
/// On offer, where no selector names devices, is what passes its probe and self-test, by kind (gpu,
/// accelerator, cpu, storage), then the plugin's priority, then name. Not thread-safe.
class DeviceOpener {
 public:
  /// Throws kInvalid for a wrong selector, with a list of what there is.
  DeviceOpener(Discovery discovery, OpenOptions options);
  ~DeviceOpener();

  /// What the selector names, in its order; of what is on offer just the first that opens. Never
  /// empty. Throws kInvalid for a selector that matches nothing, kEnvironment for a plugin or
  /// device that fails, each with a list of what there is.
  std::vector<std::shared_ptr<Device>> open_first();
  /// "cpu:1", the first of a backend "cpu", or a path "BACKEND:PATH"; null if that is not on offer.
  /// Throws what the plugin says.
  std::shared_ptr<Device> open_named(const std::string& id);
  /// Ids that open_named takes and that are not open yet.
  std::vector<std::string> offered() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// True if the device is one of the term's, or the term names none.
bool matches(const SelectorTerm& term, int index, const std::string& kind, const std::string& uuid);

}  // namespace tenon
