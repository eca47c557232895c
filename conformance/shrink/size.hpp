// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How large a case is. Shrinking never makes it larger.
#pragma once

#include <compare>
#include <cstdint>

#include "conformance/cases/case.hpp"

namespace tenon::conformance::shrink {

struct Size {
  int nodes = 0;         ///< of the graph, or steps of a sequence and ops of its programs
  int64_t elements = 0;  ///< of the largest input or output
  int64_t total = 0;     ///< elements of all nodes, or the sum of the numbers of a sequence
  auto operator<=>(const Size&) const = default;
};

Size size_of(const Case& test);

}  // namespace tenon::conformance::shrink
