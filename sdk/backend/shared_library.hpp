// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A shared library of a driver, opened at run time. On a machine without it the plugin loads but
// has no devices.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tenon::sdk {

/// Never closed, as drivers run threads.
class SharedLibrary {
 public:
  SharedLibrary() = default;
  /// Opens the first of `names` (names or paths) that exists. If none opens, reason() is the
  /// loader's message for the first, as "libcuda.so.1: cannot open shared object file: ...".
  explicit SharedLibrary(std::span<const std::string> names);

  explicit operator bool() const { return handle_ != nullptr; }
  /// Null if there is no such symbol.
  void* find(const char* symbol) const;
  const std::string& name() const { return name_; }
  const std::string& reason() const { return reason_; }

 private:
  void* handle_ = nullptr;
  std::string name_, reason_ = "no library was named";
};

/// Names to try: "libx.so" with each suffix, first by the rules of the loader, then in each folder.
std::vector<std::string> library_names(const std::string& name,
                                       std::span<const char* const> suffixes,
                                       std::span<const std::string> folders);
/// `folder` below the path in an environment variable; empty if it is unset, or in a process with
/// elevated rights (secure_getenv).
std::vector<std::string> folder_of_variable(const char* variable, const std::string& folder);

/// A function to look up.
struct SymbolRow {
  const char* name;
  void* slot;  ///< address of the function pointer to fill
  bool is_optional = false;
};

/// Fills every slot; missing optional symbols give null. Returns "", or an error that names the
/// first missing symbol.
std::string load_symbols(const SharedLibrary& library, std::span<const SymbolRow> rows);

}  // namespace tenon::sdk
