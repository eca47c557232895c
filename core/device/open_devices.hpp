// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens devices by a selector and the plugins found.
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
  std::optional<std::string> selector;  ///< none: all devices that pass their probe
  std::string origin;                   ///< "TENON_DEVICES": named in errors
  DeviceOptions device;                 ///< guard zones
  std::shared_ptr<DiskCache> cache;     ///< never null
  bool disk_cache = true;               ///< caches executables in it
  bool require_compute = true;          ///< of the first device
  bool probe = true;                    ///< false: as @noprobe on every term
  std::shared_ptr<Probes> probes;       ///< never null
};

/// Opens devices that a selector names at once, and others at first use. Without a selector,
/// devices that pass their probe and self-test are offered, ordered by kind (gpu, accelerator, cpu,
/// storage), priority of the plugin, and name. Not thread-safe.
class DeviceOpener {
 public:
  /// Throws kInvalid, with a list of the devices, for a wrong selector.
  DeviceOpener(Discovery discovery, OpenOptions options);
  ~DeviceOpener();

  /// The devices of the selector in its order, or the first offered device that opens. Never empty.
  /// Throws kInvalid for a selector that matches nothing, and kEnvironment for a plugin or device
  /// that fails, each with a list of the devices.
  std::vector<std::shared_ptr<Device>> open_first();
  /// Opens "cpu:1", the first device of a backend "cpu", or a path "BACKEND:PATH"; null if it is
  /// not offered. Throws the error of the plugin.
  std::shared_ptr<Device> open_named(const std::string& id);
  /// Ids that open_named accepts and that are not open yet.
  std::vector<std::string> offered() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// True if the device is one of the term's, or the term names none.
bool matches(const SelectorTerm& term, int index, const std::string& kind, const std::string& uuid);

}  // namespace tenon
