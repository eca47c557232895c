// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of tenon/ops.def as data: what a verifier, printer or generator asks about an op.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tenon/program.h"

namespace tenon::sdk {

enum class OpKind : uint8_t {
  kLeaf,
  kUnary,
  kBinary,
  kCompare,
  kTernary,
  kMove,
  kReduce,
  kMemory,
  kControl,
  kVector,
  kSync,
  kMatrix,
  kReserved
};
enum class OpTypes : uint8_t { kAll, kFloat, kInt, kBits, kNum };
enum class OpLevel : uint8_t { kGraph, kProgram, kBoth };

inline constexpr uint32_t kOpCommutes = 1, kOpAssociates = 2, kOpIdempotent = 4, kOpHint = 8;

struct OpInfo {
  uint16_t op = 0;        ///< tn_opcode
  std::string_view text;  ///< of programs: "load" for TAKE
  int arity = 0;          ///< -1 where it varies
  OpKind kind = OpKind::kLeaf;
  OpTypes types = OpTypes::kAll;
  OpLevel level = OpLevel::kBoth;
  uint32_t flags = 0;  ///< kOp bits
};

/// All rows, by ascending code.
std::span<const OpInfo> all_ops();
/// Null if there is no such op.
const OpInfo* op_info(uint16_t op);
/// By the text of programs; null if there is none.
const OpInfo* op_by_text(std::string_view text);

inline bool is_elementwise(const OpInfo& op) {
  return op.kind == OpKind::kUnary || op.kind == OpKind::kBinary || op.kind == OpKind::kCompare ||
         op.kind == OpKind::kTernary;
}

bool is_float(uint8_t dtype);
bool is_signed(uint8_t dtype);   ///< i8 to i64
bool is_integer(uint8_t dtype);  ///< signed and unsigned, without bool
bool is_usable(uint8_t dtype);   ///< known and not reserved
bool takes(OpTypes types, uint8_t dtype);
uint8_t dtype_by_text(std::string_view text);  ///< TN_DTYPE_VOID if unknown

}  // namespace tenon::sdk
