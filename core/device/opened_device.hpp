// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a plugin gave for one of its devices; it stays as it is while the device is open.
#pragma once

#include <memory>
#include <string>

#include "core/plugin/library.hpp"
#include "core/plugin/properties.hpp"
#include "tenon/ext/files.h"
#include "tenon/ext/timing.h"

namespace tenon {

struct OpenedDevice {
  /// Throws what the plugin says, and kEnvironment for properties that contradict the ABI.
  OpenedDevice(std::shared_ptr<PluginLibrary> library, uint32_t index, const tn_device_info& info,
               const std::string& id, const std::string& plugin_options);

  const tn_plugin& plugin() const { return library->table(); }
  /// The host sees memory of space 0 where it lies.
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
