// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plugin's side of an open device: handle, info, properties and extensions. Immutable until
// close.
#pragma once

#include <memory>
#include <string>

#include "core/plugin/library.hpp"
#include "core/plugin/properties.hpp"
#include "tenon/ext/files.h"
#include "tenon/ext/timing.h"

namespace tenon {

struct OpenedDevice {
  /// Throws the error of the plugin, and kEnvironment for properties that violate the ABI.
  OpenedDevice(std::shared_ptr<PluginLibrary> library, uint32_t index, const tn_device_info& info,
               const std::string& id, const std::string& plugin_options);

  const tn_plugin& plugin() const { return library->table(); }
  /// Whether the host can map memory of space 0.
  bool is_visible() const { return facts.spaces[0].flags & TN_MEMORY_HOST_VISIBLE; }
  void close() noexcept;

  std::shared_ptr<PluginLibrary> library;
  tn_device_info info;
  std::string id;               ///< "cpu:0", or "BACKEND:PATH"
  tn_device* handle = nullptr;  ///< null once it is closed
  DeviceFacts facts;
  const tn_files* files = nullptr;    ///< of a storage device that has them
  const tn_timing* timing = nullptr;  ///< of a backend whose devices may have a clock
};

}  // namespace tenon
