// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/error.hpp"

#include "core/support/printable.hpp"
#include "tenon/export.hpp"

namespace tenon {

TENON_API void throw_error(ErrorKind kind, std::string_view message) {
  throw Error(kind, printable(message));
}

void assertion_failed(const char* condition, const char* file, int line) {
  fail(ErrorKind::kInternal, "internal error: {} does not hold at {}:{}", condition, file, line);
}

}  // namespace tenon
