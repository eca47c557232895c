// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/error.hpp"

namespace tenon {

void assertion_failed(const char* condition, const char* file, int line) {
  fail(ErrorKind::kInternal, "internal error: {} does not hold at {}:{}", condition, file, line);
}

}  // namespace tenon
