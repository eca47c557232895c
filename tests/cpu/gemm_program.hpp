// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix product as the core would tile it, written by hand: to see what the plugin makes of it.
#pragma once

#include "sdk/program/builder.hpp"

namespace tenon::cpu_test {

struct GemmShape {
  uint32_t m, n, k;  ///< multiples of the tile and of k_unroll
  uint16_t tile_m = 12, vectors_n = 2, lanes = 16;
  uint32_t k_unroll = 4;
  bool by_attribute = false;  ///< the k loop over k_unroll is a loop that asks to be unrolled
};

/// C[m, n] = A packed as [m / tile_m, k, tile_m] times B packed as [n / width, k, width], f32.
/// Grid: x over tiles of m, y over tiles of n.
sdk::Program gemm_program(const GemmShape& shape);

}  // namespace tenon::cpu_test
