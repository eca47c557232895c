// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values on the host: what goes into a graph and comes out of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tenon/dtype.hpp"

namespace tenon {

/// Sizes of the symbolic dimensions of a graph by their names.
using SymbolValues = std::map<std::string, int64_t>;

/// A dense row-major array on the host.
struct TENON_API Array {
  DType dtype = DType::kVoid;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;  ///< count() * dtype_size(dtype)

  int64_t count() const;
  Scalar at(int64_t i) const;  ///< flat index
  void set(int64_t i, const Scalar& value);
  /// Throws kInvalid for a negative size, kOutOfMemory for what the host cannot hold.
  static Array zeros(DType dtype, std::vector<int64_t> shape);
  bool operator==(const Array&) const = default;
};

}  // namespace tenon
