// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which integers a kernel counts and addresses with.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// kI32 where every index, and all that is computed on the way to it, fits; else kI64. A device of
/// 32-bit indices gets kI32 also where only some sizes of the symbols fit; index_bounds says which.
/// Throws kUnsupported, naming buffer and size, where none does.
DType index_dtype(const Kernel& kernel, const Capabilities& capabilities);

/// An index that large symbols take beyond 32 bits.
struct IndexBound {
  Expr index;
  std::string buffer;  ///< that it addresses; "" for none
  Expr count;          ///< elements of that buffer
  double words = 1;    ///< that the index counts for each of its own

  /// Throws kUnsupported if these values do.
  void check(const std::map<std::string, int64_t>& symbols) const;
};

/// What a launch on a device of 32-bit indices must check. Empty on others, and without symbols.
std::vector<IndexBound> index_bounds(const Kernel& kernel, const Capabilities& capabilities);

}  // namespace tenon
