// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/as_op.hpp"

#include <string_view>

#include "tenon/export.hpp"

namespace tenon {

TENON_API void throw_as_op(const char* op, const Error& error) {
  const std::string_view text = error.what();
  const size_t end = text.find("] ");
  const bool is_ours =
      error.kind() == ErrorKind::kInvalid && text.starts_with('[') && end != std::string_view::npos;
  // Tensors that are gone, of other contexts, or of the whole process are no matter of a function.
  for (const std::string_view other : {"[tensor]", "[fork]", "[exit]"})
    if (!is_ours || text.starts_with(other)) throw error;
  fail(error.kind(), "[{}] {}", op, text.substr(end + 2));
}

}  // namespace tenon
