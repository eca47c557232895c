// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One library that is many plugins, by the name of its file: tenon_plugin_copies in
// tests/CMakeLists.txt.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace tenon::test {

/// "planted_crash" of libtenon_planted_crash.so, which this is compiled into.
inline const std::string& plugin_name() {
  static const std::string& name = *[] {
    Dl_info info{};
    if (!dladdr(reinterpret_cast<const void*>(&plugin_name), &info) || !info.dli_fname)
      std::abort();
    std::string_view file = info.dli_fname;
    file.remove_prefix(file.rfind('/') + 1);
    file.remove_prefix(std::string_view("libtenon_").size());
    return new std::string(file.substr(0, file.find('.')));
  }();
  return name;
}

/// Which of the names, each of a value of the enum in order, follows `prefix` in the plugin's name.
template <class Enum, size_t n>
Enum variant_named(std::string_view prefix, const char* const (&names)[n]) {
  const std::string_view plugin = plugin_name();
  for (size_t i = 0; i < n; ++i)
    if (plugin.starts_with(prefix) && plugin.substr(prefix.size()) == names[i])
      return static_cast<Enum>(i);
  std::abort();  // a copy under a name that is none
}

}  // namespace tenon::test

/// The enum `Enum` of the names that LIST(X) gives X, and k<Enum>, the one that the plugin's file
/// is named after.
#define TN_TEST_VARIANT(Enum, LIST, prefix)                      \
  enum class Enum { LIST(TN_TEST_VALUE) };                       \
  constexpr const char* k##Enum##Names[] = {LIST(TN_TEST_NAME)}; \
  const Enum k##Enum = tenon::test::variant_named<Enum>(prefix, k##Enum##Names)
#define TN_TEST_VALUE(name) name,
#define TN_TEST_NAME(name) #name,
