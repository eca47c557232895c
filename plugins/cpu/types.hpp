// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps dtypes to LLVM types, with small helpers.
//
// As a value, a bool is an i1, and a narrow float (f16, bf16, fp8) is an integer with its bits, so
// moves cannot change it. In memory a bool is an i8.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>

#include "tenon/program.h"

namespace tenon::cpu {

/// An IR builder for one target.
struct Builder : llvm::IRBuilder<> {
  using IRBuilder::IRBuilder;
  bool x86 = false;
  bool avx512 = false;  ///< it has AVX-512 with F, BW, DQ and VL
};

enum class DTypeClass { kBool, kSigned, kUnsigned, kNarrowFloat, kFloat };

/// Throws std::invalid_argument for a dtype that is not of version 1.
DTypeClass dtype_class(tn_dtype dtype);
/// Bits of one element; a bool has 8.
uint32_t dtype_bits(tn_dtype dtype);

llvm::Type* value_type(llvm::LLVMContext& context, tn_dtype dtype, unsigned lanes);
llvm::Type* memory_type(llvm::LLVMContext& context, tn_dtype dtype, unsigned lanes);
llvm::Constant* constant(llvm::LLVMContext& context, tn_dtype dtype, unsigned lanes, uint64_t bits);

/// A value as memory holds it.
llvm::Value* to_memory(Builder& b, llvm::Value* value, tn_dtype dtype);

/// 1 for a scalar.
unsigned lanes_of(const llvm::Value* value);
/// `element`, or a vector of it with as many lanes as `like` has.
llvm::Type* shaped_like(const llvm::Value* like, llvm::Type* element);
/// The bits of 32-bit lanes as floats.
inline llvm::Value* as_f32(Builder& b, llvm::Value* v) {
  return b.CreateBitCast(v, shaped_like(v, b.getFloatTy()));
}
llvm::Constant* int_like(const llvm::Value* like, unsigned bits, uint64_t value);
llvm::Constant* f32_like(const llvm::Value* like, float value);
llvm::Constant* f64_like(const llvm::Value* like, double value);

}  // namespace tenon::cpu
