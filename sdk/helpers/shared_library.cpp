// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dlopen and dlsym.
#include "sdk/helpers/shared_library.hpp"

#include <dlfcn.h>

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

std::string load_symbols(const SharedLibrary& library, std::span<const SymbolRow> rows) {
  for (const SymbolRow& row : rows) {
    void* found = library.find(row.name);
    if (!found && !row.is_optional) return library.name() + ": no symbol " + row.name;
    std::memcpy(row.slot, &found, sizeof found);
  }
  return {};
}

}  // namespace tenon::sdk
