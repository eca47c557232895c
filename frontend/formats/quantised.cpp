// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/quantised.hpp"

#include "tenon/make.hpp"

#include <limits>

#include "core/support/error.hpp"

namespace tenon::formats {
namespace {

struct Layout {
  std::string_view name;
  int64_t halves;  ///< binary16 numbers before what is scaled
  int64_t bits;    ///< of an element
  int64_t bytes() const { return 2 * halves + kBlockElements * bits / 8; }
};

Layout layout_of(BlockFormat format) {
  switch (format) {
    case BlockFormat::kQ8_0:
      return {"q8_0", 1, 8};
    case BlockFormat::kQ4_0:
      return {"q4_0", 1, 4};
    case BlockFormat::kQ4_1:
      return {"q4_1", 2, 4};
  }
  fail(ErrorKind::kInvalid, "[dequantise] expected a format of blocks, got number {}",
       static_cast<int>(format));
}

/// Elements of the shape; throws where it is none of blocks.
int64_t elements_of(const std::vector<int64_t>& shape) {
  TN_REQUIRE(!shape.empty() && shape.back() % kBlockElements == 0,
             "[dequantise] expected a last axis of whole blocks of {}, got {}", kBlockElements,
             shape.empty() ? "no axis" : std::to_string(shape.back()));
  int64_t elements = 1;
  for (const int64_t size : shape) {
    TN_REQUIRE(size >= 0, "[dequantise] expected sizes of at least 0, got {}", size);
    TN_REQUIRE(size == 0 || elements <= std::numeric_limits<int64_t>::max() / size,
               "[dequantise] expected fewer than 2^63 elements, got more");
    elements *= size;
  }
  return elements;
}

/// Bytes [begin, end) of each block.
Tensor bytes(const Tensor& blocks, int64_t begin, int64_t end) {
  return blocks.slice({Slice{}, Slice{begin, end}});
}

/// The binary16 number at a byte of each block, of shape [blocks, 1]. Blocks have odd places, so it
/// is made of its bytes.
Tensor half_at(const Tensor& blocks, int64_t byte) {
  const Tensor low = bytes(blocks, byte, byte + 1).astype(DType::kU16);
  const Tensor high = bytes(blocks, byte + 1, byte + 2).astype(DType::kU16);
  return (low | high * 256).bit_cast(DType::kF16).astype(DType::kF32);
}

/// Bytes [begin, begin + 16) of each block as numbers of 4 bits: the low ones come first.
Tensor nibbles_at(const Tensor& blocks, int64_t begin) {
  constexpr int64_t kBytes = kBlockElements / 2;
  const Tensor pairs = bytes(blocks, begin, begin + kBytes).expand_dims(1);
  const Tensor shifts =
      (arange(2, DType::kU8, blocks.context()) * 4).expand_dims(1);  // of each half
  return ((pairs >> shifts) & 15).reshape({-1, kBlockElements});
}

}  // namespace

int64_t block_bytes(BlockFormat format) { return layout_of(format).bytes(); }

Tensor dequantise(const Tensor& blocks, BlockFormat format, const std::vector<int64_t>& shape) {
  const Layout layout = layout_of(format);
  TN_REQUIRE(blocks.dtype() == DType::kU8, "[dequantise] expected blocks of u8, got {}",
             dtype_name(blocks.dtype()));
  const int64_t count = elements_of(shape) / kBlockElements;
  TN_REQUIRE(blocks.size() % layout.bytes() == 0 && blocks.size() / layout.bytes() == count,
             "[dequantise] expected {} blocks of {} bytes for {}, got {} bytes", count,
             layout.bytes(), layout.name, blocks.size());
  const Tensor rows = blocks.reshape({count, layout.bytes()});
  const int64_t begin = 2 * layout.halves;
  const Tensor scale = half_at(rows, 0);
  Tensor out = scale;
  if (layout.bits == 8) {
    out = bytes(rows, begin, layout.bytes()).bit_cast(DType::kI8).astype(DType::kF32) * scale;
  } else if (layout.halves == 1) {
    out = (nibbles_at(rows, begin).astype(DType::kF32) - 8) * scale;
  } else {
    out = nibbles_at(rows, begin).astype(DType::kF32) * scale + half_at(rows, 2);
  }
  return out.reshape(shape);
}

}  // namespace tenon::formats
