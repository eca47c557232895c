// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the integer dtype of a kernel's indices and loop counters.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// kI32 if all indices and their intermediate values fit, else kI64. A device of 32-bit indices
/// gets kI32 also if only some values of the symbols fit (see index_bounds). Throws kUnsupported,
/// with the buffer and size, if none fits.
DType index_dtype(const Kernel& kernel, const Capabilities& capabilities);

/// An index that exceeds 32 bits for large symbols.
struct IndexBound {
  Expr index;
  std::string buffer;  ///< that it addresses; "" for none
  Expr count;          ///< elements of that buffer
  double words = 1;    ///< words an element

  /// Throws kUnsupported if it does for these values.
  void check(const std::map<std::string, int64_t>& symbols) const;
};

/// The checks before a launch on a device of 32-bit indices. Empty for others, and without symbols.
std::vector<IndexBound> index_bounds(const Kernel& kernel, const Capabilities& capabilities);

}  // namespace tenon
