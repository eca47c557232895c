// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A driver's shared library, opened at run time: a machine without it has no devices, not a plugin
// that cannot be loaded.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tenon::sdk {

/// Never closed: drivers run threads of their own.
class SharedLibrary {
 public:
  SharedLibrary() = default;
  /// The first of `names` (names or paths) that opens. Where none does, reason() is the loader's
  /// sentence on the first, as "libcuda.so.1: cannot open shared object file: ...".
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

/// Names to try: "libx.so" with each suffix, by the loader's rules and then in each folder.
std::vector<std::string> library_names(const std::string& name,
                                       std::span<const char* const> suffixes,
                                       std::span<const std::string> folders);
/// `folder` below what an environment variable names; nothing if it is not set, or in a process
/// with more rights than its user.
std::vector<std::string> folder_of_variable(const char* variable, const std::string& folder);

/// One function to look up.
struct SymbolRow {
  const char* name;
  void* slot;  ///< address of the function pointer to fill
  bool is_optional = false;
};

/// Fills every slot (an optional one that is not there with null). Empty, or a sentence that names
/// the first symbol that is missing.
std::string load_symbols(const SharedLibrary& library, std::span<const SymbolRow> rows);

}  // namespace tenon::sdk
