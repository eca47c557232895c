// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks the table of a plugin. Each check has its message.
#include <cstddef>

#include "core/plugin/abi_struct.hpp"
#include "core/plugin/library.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// Version 1 ends with get_extension. The fields before this offset are needed for any message.
constexpr uint32_t kSmallestTable = offsetof(tn_plugin, device_enumerate);
constexpr uint32_t kLargestTable = 1u << 16;

template <class F>
void need(std::string& missing, F function, const char* name) {
  if (!function) missing += (missing.empty() ? "" : ", ") + std::string(name);
}

}  // namespace

std::string check_plugin_table(const tn_plugin* raw, const std::string& backend) {
  if (raw->struct_size < kSmallestTable || raw->struct_size > kLargestTable)
    return fmt::format("expected a table of {} to {} bytes, got struct_size {}", kSmallestTable,
                       kLargestTable, raw->struct_size);
  const tn_plugin table = abi_read(raw);
  if (table.abi_version < kOldestAbi || table.abi_version > TN_ABI_VERSION)
    return fmt::format("expected ABI version {} to {}, got {}", kOldestAbi, TN_ABI_VERSION,
                       table.abi_version);
  if (!table.backend || !table.version) return "expected a backend name and a version, got null";
  if (const size_t length = strnlen(table.backend, 65); length > 64)
    return "expected a backend name of at most 64 bytes, got a longer one";
  if (table.backend != backend)
    return fmt::format("expected backend '{}' as in the file name, got '{}'", backend,
                       table.backend);
  std::string missing;
  need(missing, table.device_enumerate, "device_enumerate");
  need(missing, table.device_open, "device_open");
  need(missing, table.device_close, "device_close");
  need(missing, table.properties, "properties");
  need(missing, table.memory_allocate, "memory_allocate");
  need(missing, table.memory_free, "memory_free");
  need(missing, table.memory_map, "memory_map");
  need(missing, table.memory_unmap, "memory_unmap");
  if (!missing.empty()) return "expected every mandatory function, got null for " + missing;
  const bool compute = table.compile != nullptr;
  if (compute && (table.program_min > TN_PROGRAM_VERSION || table.program_max < TN_PROGRAM_VERSION))
    return fmt::format("expected program format version {} in its range, got {} to {}",
                       TN_PROGRAM_VERSION, table.program_min, table.program_max);
  return "";
}

std::string check_device_functions(const tn_plugin& table, uint32_t flags) {
  std::string missing;
  if (flags & TN_DEVICE_COMPUTE) {
    need(missing, table.supports, "supports");
    need(missing, table.compile, "compile");
    need(missing, table.executable_destroy, "executable_destroy");
    need(missing, table.submit, "submit");
  }
  if (flags & TN_DEVICE_ASYNC) {
    need(missing, table.submit, "submit");
    need(missing, table.timeline_create, "timeline_create");
    need(missing, table.timeline_destroy, "timeline_destroy");
    need(missing, table.timeline_wait, "timeline_wait");
    need(missing, table.timeline_query, "timeline_query");
  }
  if (flags & TN_DEVICE_SAVE) {
    need(missing, table.executable_save, "executable_save");
    need(missing, table.executable_load, "executable_load");
  }
  return missing.empty() ? ""
                         : "expected the functions that its flags promise, got null for " + missing;
}

}  // namespace tenon
