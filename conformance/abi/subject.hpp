// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plugin under test as its table of functions: nothing of the core stands between.
#pragma once

#include <filesystem>
#include <string>

#include "conformance/abi/counting_host.hpp"
#include "conformance/cases/target.hpp"
#include "tenon/plugin.h"

namespace tenon::conformance::abi {

struct Subject {
  /// Loads the file, with the tool's own tn_host. Throws kEnvironment or kInvalid.
  explicit Subject(const Target& target) : Subject(target, counting_host()) {}
  Subject(const Target& target, const tn_host& host);

  Target target;  ///< it was made from
  tn_plugin_query_fn query = nullptr;
  const tn_plugin* raw = nullptr;  ///< as the plugin gave it
  tn_plugin plain;                 ///< complete: what a shorter one lacks is null
  tn_plugin table;                 ///< the same, watched (call_watch.hpp)
  std::string backend;
  std::filesystem::path path;
  uint32_t index = 0;    ///< of the device in the enumeration
  uint32_t devices = 0;  ///< how many are enumerated
  std::string options;   ///< for device_open
  const char* options_or_null() const { return options.empty() ? nullptr : options.c_str(); }
};

/// Field by field: what lies beyond the end of a text is nobody's concern.
bool is_same(const tn_device_info& a, const tn_device_info& b);

}  // namespace tenon::conformance::abi
