// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The grammar of TENON_DEVICES, shared by the environment, the API and the command line.
//
//   selector := term ("," term)*                  order is priority
//   term     := ["-"] backend [":" dev ("+" dev)*] ("@" key ["=" value])*
//   dev      := "all" | kind | index | "uuid=" id | path
//   kind     := cpu | gpu | accelerator | storage
//
// A dev that holds a '/' is a path: the backend's first device, opened with the option `path`. The
// characters , + @ % of a path are written %2C %2B %40 %25.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

struct SelectorDevice {
  enum class Kind { kAll, kKind, kIndex, kUuid, kPath } kind = Kind::kAll;
  std::string text;  ///< kKind, kUuid; kPath: as written
  int index = 0;
};

struct SelectorTerm {
  bool negative = false;
  std::string backend;
  std::vector<SelectorDevice> devices;  ///< empty: all
  std::map<std::string, std::string>
      options;       ///< @optional, @noprobe, @pool=2G, and the plugin's own
  std::string text;  ///< as written
};

/// Throws kInvalid with the column and what was expected.
std::vector<SelectorTerm> parse_selector(std::string_view text);

/// "2G", "512M", "1048576" to bytes. Throws kInvalid.
uint64_t parse_bytes(std::string_view text);

}  // namespace tenon
