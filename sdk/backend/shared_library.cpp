// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/backend/shared_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace tenon::sdk {

SharedLibrary::SharedLibrary(std::span<const std::string> names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) {
      name_ = name;
      return;
    }
    const char* message = dlerror();
    if (&name == names.data()) reason_ = message ? message : name + ": cannot be opened";
  }
}

void* SharedLibrary::find(const char* symbol) const {
  return handle_ ? dlsym(handle_, symbol) : nullptr;
}

std::vector<std::string> library_names(const std::string& name,
                                       std::span<const char* const> suffixes,
                                       std::span<const std::string> folders) {
  std::vector<std::string> names;
  for (const char* suffix : suffixes) {
    names.push_back(name + suffix);
    for (const std::string& folder : folders) names.push_back(folder + "/" + name + suffix);
  }
  return names;
}

std::vector<std::string> folder_of_variable(const char* variable, const std::string& folder) {
#if defined(__GLIBC__)
  const char* value = secure_getenv(variable);
#else
  const char* value = std::getenv(variable);
#endif
  if (!value || !*value) return {};
  return {std::string(value) + "/" + folder};
}

std::string load_symbols(const SharedLibrary& library, std::span<const SymbolRow> rows) {
  for (const SymbolRow& row : rows) {
    void* found = library.find(row.name);
    if (!found && !row.is_optional) return library.name() + ": no symbol " + row.name;
    std::memcpy(row.slot, &found, sizeof found);
  }
  return {};
}

}  // namespace tenon::sdk
