// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/promote.hpp"

#include <algorithm>

#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr int kCount = 15;
constexpr DType kOrder[kCount] = {DType::kBool, DType::kI8,     DType::kI16,   DType::kI32,
                                  DType::kI64,  DType::kU8,     DType::kU16,   DType::kU32,
                                  DType::kU64,  DType::kF16,    DType::kBF16,  DType::kF32,
                                  DType::kF64,  DType::kF8E4M3, DType::kF8E5M2};

// NumPy's where NumPy has both. bf16 and fp8: as JAX, a float stays itself beside integers, and two
// of which neither holds the other become f32.
constexpr auto kTable = [] {
  using enum DType;
  constexpr DType e4 = kF8E4M3, e5 = kF8E5M2;
  struct Rows {
    DType of[kCount][kCount];
  };
  // clang-format off
  return Rows{{
  //          bool  i8    i16   i32   i64   u8    u16   u32   u64   f16   bf16   f32   f64   e4    e5
  /* bool */ {kBool, kI8, kI16, kI32, kI64, kU8,  kU16, kU32, kU64, kF16, kBF16, kF32, kF64, e4,   e5},
  /* i8   */ {kI8,  kI8,  kI16, kI32, kI64, kI16, kI32, kI64, kF64, kF16, kBF16, kF32, kF64, e4,   e5},
  /* i16  */ {kI16, kI16, kI16, kI32, kI64, kI16, kI32, kI64, kF64, kF32, kBF16, kF32, kF64, e4,   e5},
  /* i32  */ {kI32, kI32, kI32, kI32, kI64, kI32, kI32, kI64, kF64, kF64, kBF16, kF64, kF64, e4,   e5},
  /* i64  */ {kI64, kI64, kI64, kI64, kI64, kI64, kI64, kI64, kF64, kF64, kBF16, kF64, kF64, e4,   e5},
  /* u8   */ {kU8,  kI16, kI16, kI32, kI64, kU8,  kU16, kU32, kU64, kF16, kBF16, kF32, kF64, e4,   e5},
  /* u16  */ {kU16, kI32, kI32, kI32, kI64, kU16, kU16, kU32, kU64, kF32, kBF16, kF32, kF64, e4,   e5},
  /* u32  */ {kU32, kI64, kI64, kI64, kI64, kU32, kU32, kU32, kU64, kF64, kBF16, kF64, kF64, e4,   e5},
  /* u64  */ {kU64, kF64, kF64, kF64, kF64, kU64, kU64, kU64, kU64, kF64, kBF16, kF64, kF64, e4,   e5},
  /* f16  */ {kF16, kF16, kF32, kF64, kF64, kF16, kF32, kF64, kF64, kF16, kF32,  kF32, kF64, kF32, kF32},
  /* bf16 */ {kBF16, kBF16, kBF16, kBF16, kBF16, kBF16, kBF16, kBF16, kBF16, kF32, kBF16, kF32, kF64, kF32, kF32},
  /* f32  */ {kF32, kF32, kF32, kF64, kF64, kF32, kF32, kF64, kF64, kF32, kF32,  kF32, kF64, kF32, kF32},
  /* f64  */ {kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64,  kF64, kF64, kF64, kF64},
  /* e4   */ {e4,   e4,   e4,   e4,   e4,   e4,   e4,   e4,   e4,   kF32, kF32,  kF32, kF64, e4,   kF32},
  /* e5   */ {e5,   e5,   e5,   e5,   e5,   e5,   e5,   e5,   e5,   kF32, kF32,  kF32, kF64, kF32, e5},
  }};
  // clang-format on
}();

size_t place(DType dtype) {
  const auto* at = std::ranges::find(kOrder, dtype);
  TN_REQUIRE(at != std::end(kOrder), "[promote_types] expected dtypes of tensors, got {}",
             dtype_name(dtype));
  return static_cast<size_t>(at - kOrder);
}

}  // namespace

DType promote_types(DType a, DType b) { return kTable.of[place(a)][place(b)]; }

}  // namespace tenon
