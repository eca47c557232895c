// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/case.hpp"

namespace tenon::conformance {

std::string_view mode_name(ValueMode mode) {
  switch (mode) {
    case ValueMode::kExact:
      return "exact";
    case ValueMode::kConditioned:
      return "conditioned";
    case ValueMode::kSpecial:
      return "special";
  }
  return "?";
}

}  // namespace tenon::conformance
