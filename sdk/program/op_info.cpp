// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The op table and the dtype table.
#include "sdk/program/op_info.hpp"

#include <algorithm>
#include <iterator>

#include "sdk/program/view.hpp"

namespace tenon::sdk {
namespace {

// The words that ops.def uses in its columns.
namespace words {
constexpr OpKind LEAF = OpKind::kLeaf, UNARY = OpKind::kUnary, BINARY = OpKind::kBinary,
                 COMPARE = OpKind::kCompare, TERNARY = OpKind::kTernary, MOVE = OpKind::kMove,
                 REDUCE = OpKind::kReduce, MEMORY = OpKind::kMemory, CONTROL = OpKind::kControl,
                 VECTOR = OpKind::kVector, SYNC = OpKind::kSync, RESERVED = OpKind::kReserved;
constexpr OpTypes ALL = OpTypes::kAll, FLOAT = OpTypes::kFloat, INT = OpTypes::kInt,
                  BITS = OpTypes::kBits, NUM = OpTypes::kNum;
constexpr OpLevel GRAPH = OpLevel::kGraph, PROGRAM = OpLevel::kProgram, BOTH = OpLevel::kBoth;
constexpr uint32_t COMM = kOpCommutes, ASSOC = kOpAssociates, IDEM = kOpIdempotent, HINT = kOpHint;

constexpr OpInfo kOps[] = {
#define TN_OP(name, code, text, arity, kind, types, level, flags, meaning) \
  {code, code == TN_OP_TAKE ? "load" : text, arity, kind, types, level, flags},
#include "tenon/ops.def"
};
}  // namespace words

struct DTypeRow {
  uint8_t dtype;
  uint8_t bytes;
  std::string_view text;
};
constexpr DTypeRow kDTypes[] = {
    {TN_DTYPE_BOOL, 1, "bool"}, {TN_DTYPE_I8, 1, "i8"},         {TN_DTYPE_I16, 2, "i16"},
    {TN_DTYPE_I32, 4, "i32"},   {TN_DTYPE_I64, 8, "i64"},       {TN_DTYPE_U8, 1, "u8"},
    {TN_DTYPE_U16, 2, "u16"},   {TN_DTYPE_U32, 4, "u32"},       {TN_DTYPE_U64, 8, "u64"},
    {TN_DTYPE_F16, 2, "f16"},   {TN_DTYPE_BF16, 2, "bf16"},     {TN_DTYPE_F32, 4, "f32"},
    {TN_DTYPE_F64, 8, "f64"},   {TN_DTYPE_F8E4M3, 1, "f8e4m3"}, {TN_DTYPE_F8E5M2, 1, "f8e5m2"},
};

const DTypeRow* row(uint8_t dtype) {
  const auto* at = std::ranges::find(kDTypes, dtype, &DTypeRow::dtype);
  return at == std::end(kDTypes) ? nullptr : at;
}

}  // namespace

std::span<const OpInfo> all_ops() { return words::kOps; }

const OpInfo* op_info(uint16_t op) {
  const auto* at = std::ranges::lower_bound(words::kOps, op, {}, &OpInfo::op);
  return at == std::end(words::kOps) || at->op != op ? nullptr : at;
}

const OpInfo* op_by_text(std::string_view text) {
  const auto* at = std::ranges::find(words::kOps, text, &OpInfo::text);
  return at == std::end(words::kOps) ? nullptr : at;
}

bool is_float(uint8_t dtype) { return dtype >= TN_DTYPE_F16 && row(dtype) != nullptr; }
bool is_signed(uint8_t dtype) { return dtype >= TN_DTYPE_I8 && dtype <= TN_DTYPE_I64; }
bool is_integer(uint8_t dtype) { return dtype >= TN_DTYPE_I8 && dtype <= TN_DTYPE_U64; }
bool is_usable(uint8_t dtype) { return row(dtype) != nullptr; }

bool takes(OpTypes types, uint8_t dtype) {
  switch (types) {
    case OpTypes::kAll:
      return is_usable(dtype);
    case OpTypes::kFloat:
      return is_float(dtype);
    case OpTypes::kInt:
      return is_integer(dtype);
    case OpTypes::kBits:
      return is_integer(dtype) || dtype == TN_DTYPE_BOOL;
    case OpTypes::kNum:
      return is_integer(dtype) || is_float(dtype);
  }
  return false;
}

uint8_t dtype_by_text(std::string_view text) {
  const auto* at = std::ranges::find(kDTypes, text, &DTypeRow::text);
  return at == std::end(kDTypes) ? uint8_t{TN_DTYPE_VOID} : at->dtype;
}

std::string_view op_text(uint16_t op) {
  const OpInfo* info = op_info(op);
  return info ? info->text : "?";
}

std::string_view dtype_text(uint8_t dtype) {
  const DTypeRow* at = row(dtype);
  return at ? at->text : "?";
}

uint32_t dtype_bytes(uint8_t dtype) {
  const DTypeRow* at = row(dtype);
  return at ? at->bytes : 0;
}

}  // namespace tenon::sdk
