// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

namespace tenon::conformance {

/// What the plugin did wrong; `kind` is that of an Outcome.
struct Finding {
  std::string kind, text;
  std::string buffer = {};  ///< of a wrong element of a program's, where one is known
  uint64_t element = 0;     ///< its place in the buffer
};

}  // namespace tenon::conformance
