// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace tenon::conformance {

/// What the plugin did wrong; `kind` is that of an Outcome.
struct Finding {
  std::string kind, text;
};

}  // namespace tenon::conformance
