// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a selector and the plugins that were found to open devices.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/device_impl.hpp"
#include "core/runtime/discovery.hpp"
#include "core/runtime/selector.hpp"

namespace tenon {

struct OpenOptions {
  std::optional<std::string> selector;  ///< none: what passes its probe
  std::string origin;                   ///< "TENON_DEVICES": named in errors
  DeviceOptions device;                 ///< guard zones
  std::shared_ptr<DiskCache> cache;     ///< never null
  bool disk_cache = true;               ///< executables are kept in it
};

/// In order of priority, never empty. Throws kInvalid for a wrong selector or one that matches
/// nothing, kEnvironment for a plugin or device that fails, each with a list of what there is.
std::vector<std::shared_ptr<Device>> open_devices(const Discovery& discovery,
                                                  const OpenOptions& options);

/// True if the device is one of the term's, or the term names none.
bool matches(const SelectorTerm& term, int index, const std::string& kind, const std::string& uuid);

}  // namespace tenon
