// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Throughput and latency of a device: the core's copy of tn_rates. Results never depend on it.
#pragma once

#include <cstdint>

#include "core/ir/dtype.hpp"

namespace tenon {

struct Rates {
#define TN_RATE(name) uint32_t name = 0;
#include "core/ir/rates.def"

  /// Multiply-adds of matrix atoms in one clock of a compute unit.
  uint32_t products(DType operand) const {
    switch (dtype_size(operand)) {
      case 1:
        return products_8;
      case 2:
        return products_16;
      case 4:
        return products_32;
      default:
        return products_64;
    }
  }
};

}  // namespace tenon
