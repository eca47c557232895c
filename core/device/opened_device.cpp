// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/device/opened_device.hpp"

#include <utility>

#include "core/plugin/abi_struct.hpp"
#include "core/plugin/status.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"

namespace tenon {

OpenedDevice::OpenedDevice(std::shared_ptr<PluginLibrary> from, uint32_t index,
                           const tn_device_info& device_info, const std::string& device_id,
                           const std::string& plugin_options)
    : library(std::move(from)), info(device_info), id(device_id) {
  tn_error error = abi_struct<tn_error>();
  const char* text = plugin_options.empty() ? nullptr : plugin_options.c_str();
  check_status(plugin().device_open(index, text, &handle, &error), error, "open", id);
  try {
    TN_ASSERT(handle != nullptr);
    tn_target target = abi_struct<tn_target>();
    target.device = handle;
    const tn_properties* properties = nullptr;
    check_status(plugin().properties(&target, &properties, &error), error, "properties", id);
    facts = read_properties(properties, id);
    if (const std::string why = check_device_functions(plugin(), facts.flags); !why.empty())
      throw Error(ErrorKind::kEnvironment, fmt::format("[properties] {}: {}", id, why));
    if (plugin().get_extension) {
      files = static_cast<const tn_files*>(plugin().get_extension(TN_FILES_ID));
      timing = static_cast<const tn_timing*>(plugin().get_extension(TN_TIMING_ID));
    }
  } catch (...) {
    close();
    throw;
  }
  TN_LOG("runtime", "{} opened: {}", id, fixed_string(info.name));
}

void OpenedDevice::close() noexcept {
  if (handle) plugin().device_close(std::exchange(handle, nullptr));
}

}  // namespace tenon
