// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights in blocks of few bits, byte for byte as GGUF files hold them.
//
// A block stands for 32 neighbours of the last axis: scales in binary16, little-endian, then what
// is scaled. The layouts are ggml's (github.com/ggml-org/ggml: the structs of src/ggml-common.h,
// what they mean in src/ggml-quants.c, `dequantize_row_q8_0` and its neighbours).
#pragma once

#include <cstdint>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon::formats {

enum class BlockFormat : uint8_t {
  kQ8_0,  ///< 34 bytes: scale d, 32 of i8 q: d q
  kQ4_0,  ///< 18 bytes: scale d, 16 bytes, q of 4 bits: d (q - 8)
  kQ4_1,  ///< 20 bytes: scale d, least m, 16 bytes, q of 4 bits: d q + m
};

/// Elements of a block.
inline constexpr int64_t kBlockElements = 32;

/// Bytes of a block.
TENON_API int64_t block_bytes(BlockFormat format);

/// Blocks (u8 of any shape that has as many bytes as `shape` has blocks) as f32 of `shape`, bit for
/// bit as ggml computes them. It is lazy: a product that takes it, as
/// x.matmul(dequantise(...).matrix_transpose()), reads the blocks, and no other form of them is
/// ever in memory. Throws kInvalid for another dtype, a last axis that is no multiple of 32, and
/// another number of bytes.
TENON_API Tensor dequantise(const Tensor& blocks, BlockFormat format,
                            const std::vector<int64_t>& shape);

}  // namespace tenon::formats
