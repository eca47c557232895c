// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/cpu/types.hpp"

#include <stdexcept>
#include <string>

#include "sdk/program/dtype_info.hpp"
#include "sdk/program/view.hpp"

namespace tenon::cpu {

DTypeClass dtype_class(tn_dtype dtype) {
  const sdk::DTypeInfo* info = sdk::dtype_info(static_cast<uint8_t>(dtype));
  if (!info)
    throw std::invalid_argument("[cpu] expected a dtype of version 1, got " +
                                std::to_string(static_cast<unsigned>(dtype)));
  if (sdk::is_float(*info)) return info->bytes < 4 ? DTypeClass::kNarrowFloat : DTypeClass::kFloat;
  if (info->kind == sdk::DTypeClass::BOOL) return DTypeClass::kBool;
  return info->kind == sdk::DTypeClass::SIGNED ? DTypeClass::kSigned : DTypeClass::kUnsigned;
}

uint32_t dtype_bits(tn_dtype dtype) { return 8 * sdk::dtype_bytes(static_cast<uint8_t>(dtype)); }

static llvm::Type* with_lanes(llvm::Type* element, unsigned lanes) {
  return lanes > 1 ? llvm::FixedVectorType::get(element, lanes) : element;
}

llvm::Type* value_type(llvm::LLVMContext& context, tn_dtype dtype, unsigned lanes) {
  switch (dtype_class(dtype)) {
    case DTypeClass::kBool:
      return with_lanes(llvm::Type::getInt1Ty(context), lanes);
    case DTypeClass::kFloat:
      return with_lanes(dtype == TN_DTYPE_F32 ? llvm::Type::getFloatTy(context)
                                              : llvm::Type::getDoubleTy(context),
                        lanes);
    case DTypeClass::kSigned:
    case DTypeClass::kUnsigned:
    case DTypeClass::kNarrowFloat:
      break;
  }
  return with_lanes(llvm::Type::getIntNTy(context, dtype_bits(dtype)), lanes);
}

llvm::Type* memory_type(llvm::LLVMContext& context, tn_dtype dtype, unsigned lanes) {
  if (dtype == TN_DTYPE_BOOL) return with_lanes(llvm::Type::getInt8Ty(context), lanes);
  return value_type(context, dtype, lanes);
}

llvm::Constant* constant(llvm::LLVMContext& context, tn_dtype dtype, unsigned lanes,
                         uint64_t bits) {
  llvm::Type* type = value_type(context, dtype, lanes);
  if (dtype == TN_DTYPE_BOOL) return llvm::ConstantInt::get(type, bits != 0);
  const unsigned width = dtype_bits(dtype);
  const llvm::APInt raw =
      llvm::APInt(width, width == 64 ? bits : bits & ((uint64_t{1} << width) - 1));
  if (dtype == TN_DTYPE_F32)
    return llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEsingle(), raw));
  if (dtype == TN_DTYPE_F64)
    return llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEdouble(), raw));
  return llvm::ConstantInt::get(type, raw);
}

llvm::Value* to_memory(Builder& b, llvm::Value* value, tn_dtype dtype) {
  if (dtype != TN_DTYPE_BOOL) return value;
  return b.CreateZExt(value, shaped_like(value, b.getInt8Ty()));
}

unsigned lanes_of(const llvm::Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector ? vector->getNumElements() : 1;
}

llvm::Type* shaped_like(const llvm::Value* like, llvm::Type* element) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

llvm::Constant* int_like(const llvm::Value* like, unsigned bits, uint64_t value) {
  return llvm::ConstantInt::get(shaped_like(like, llvm::Type::getIntNTy(like->getContext(), bits)),
                                value);
}

llvm::Constant* f32_like(const llvm::Value* like, float value) {
  return llvm::ConstantFP::get(shaped_like(like, llvm::Type::getFloatTy(like->getContext())),
                               llvm::APFloat(value));
}

llvm::Constant* f64_like(const llvm::Value* like, double value) {
  return llvm::ConstantFP::get(shaped_like(like, llvm::Type::getDoubleTy(like->getContext())),
                               llvm::APFloat(value));
}

}  // namespace tenon::cpu
