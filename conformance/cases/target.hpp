// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is under test, and what it said of itself.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tenon::conformance {

/// A backend by name, as one term of TENON_DEVICES, or a file.
struct Target {
  std::string backend;
  std::optional<std::filesystem::path> plugin;
  std::string name = {};  ///< of a target that need not be there: cases are only compiled
  std::string keep = {};  ///< folder for what they were compiled to; "" for none

  /// "cpu" of "cpu:0@threads=1".
  std::string backend_name() const { return backend.substr(0, backend.find_first_of(":@")); }
};

/// What the worker said of its device.
struct DeviceFacts {
  std::string id, name, declaration, plugin;
  /// Everything that the plugin declares (version, driver, properties, dtypes, limits, extensions),
  /// as one JSON object; "{}" if nothing is known.
  std::string properties = "{}";
  bool deterministic = false;  ///< as it declares: the same launch gives the same bits
  bool memory_only = false;    ///< it computes nothing
  bool async = false;          ///< TN_DEVICE_ASYNC
};

}  // namespace tenon::conformance
