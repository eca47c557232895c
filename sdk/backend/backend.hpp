// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ base classes of a backend. Derive from them and end one source file with
// TENON_BACKEND(MyBackend), which defines the table of tenon/plugin.h. Exceptions become statuses.
//
// Threads and lifetimes are those of plugin.h. Null pointers and arguments out of range are refused
// before a virtual function is called. Programs are verified before `compile`.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/backend/options.hpp"
#include "sdk/backend/submission.hpp"
#include "sdk/program/view.hpp"
#include "sdk/support/failure.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

class Memory {
 public:
  virtual ~Memory() = default;
  /// Host pointer to [offset, offset + size), inside the slab; throws TN_ERROR_UNSUPPORTED unless
  /// overridden.
  virtual void* map(uint64_t offset, uint64_t size);
  virtual void unmap() {}
  virtual uint64_t size() const = 0;
};

class Executable {
 public:
  virtual ~Executable() = default;
  /// Source or assembly for people; throws TN_ERROR_UNSUPPORTED unless overridden.
  virtual std::string text(tn_text_kind kind) const;
  /// What Backend::load takes; throws TN_ERROR_UNSUPPORTED unless overridden.
  virtual std::vector<std::byte> save() const;
};

class Timeline {
 public:
  virtual ~Timeline() = default;
  /// Throws the failure of the timeline, or TN_ERROR_TIMEOUT. UINT64_MAX: no timeout.
  virtual void wait(uint64_t value, uint64_t timeout_ns) = 0;
  virtual uint64_t query() = 0;
  virtual void signal(uint64_t value) = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  /// Must return the same object on every call.
  virtual const tn_properties& properties() const = 0;
  virtual std::unique_ptr<Memory> allocate(uint32_t space, uint64_t size) = 0;
  virtual std::unique_ptr<Memory> import_host(uint32_t space, void* pointer, uint64_t size);
  virtual void submit(const Submission& submission) = 0;
  virtual std::unique_ptr<Timeline> make_timeline(uint64_t value);
};

/// The target of a compilation.
struct Target {
  Device* device = nullptr;                   ///< null: a target by name
  std::string_view name;                      ///< of a target; may be empty where there is a device
  const tn_properties* properties = nullptr;  ///< of either; never null
};

/// `static constexpr BackendInfo kInfo` of a backend class. The strings are literals.
struct BackendInfo {
  const char* name;
  const char* version;
  const char* license;
  int32_t priority = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  /// Must use the same order on every call. Without device or driver, returns none and sets
  /// `reason`.
  virtual std::vector<tn_device_info> enumerate(std::string& reason) = 0;
  /// Keys left in `options` are an error of the caller.
  virtual std::unique_ptr<Device> open(uint32_t index, Options& options) = 0;
  /// Properties of a target by name, which need not be present; null if the name is unknown.
  virtual const tn_properties* target(std::string_view name);

  /// Called only for programs within the properties of the target (check_support.hpp). Returns
  /// TN_SUPPORT_YES unless overridden.
  virtual tn_support supports(const Target& target, const ProgramView& program,
                              std::string& reason);
  /// The program does not outlive the call. `report` is zeroed; compile_ns may stay 0.
  virtual std::unique_ptr<Executable> compile(const Target& target, const ProgramView& program,
                                              tn_compile_report& report);
  virtual std::unique_ptr<Executable> load(const Target& target, std::span<const std::byte> bytes);
  /// The table of an extension by id, or null.
  virtual const void* extension(std::string_view id);

  /// Logs to the host, if it has a log.
  void log(tn_log_level level, const std::string& message) const;
  void set_host(const tn_host* host) { host_ = host; }

 private:
  const tn_host* host_ = nullptr;
};

inline Device* device_of(tn_device* handle) { return reinterpret_cast<Device*>(handle); }
inline Memory* memory_of(tn_memory* handle) { return reinterpret_cast<Memory*>(handle); }
inline Executable* executable_of(tn_executable* handle) {
  return reinterpret_cast<Executable*>(handle);
}
inline Timeline* timeline_of(tn_timeline* handle) { return reinterpret_cast<Timeline*>(handle); }

}  // namespace tenon::sdk

#include "sdk/backend/backend_table.hpp"

/// Defines tn_plugin_query for `Type`, a default-constructible Backend with kInfo. The backend is
/// made at first use and never destroyed, as plugins are never unloaded.
#define TENON_BACKEND(Type)                                                                    \
  extern "C" TN_EXPORT const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min, \
                                                        uint32_t abi_max, tn_error* error) {   \
    return ::tenon::sdk::BackendTable<Type>::query(host, abi_min, abi_max, error);             \
  }
