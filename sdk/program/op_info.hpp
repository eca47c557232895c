// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of tenon/ops.def as data: what a verifier, printer or generator asks about an op.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sdk/program/dtype_info.hpp"
#include "tenon/program.h"

namespace tenon::sdk {

// Named as in ops.def.
enum class OpKind : uint8_t {
  LEAF,
  UNARY,
  BINARY,
  COMPARE,
  TERNARY,
  MOVE,
  REDUCE,
  MEMORY,
  CONTROL,
  VECTOR,
  SYNC,
  MATRIX,
  RESERVED
};
enum class OpTypes : uint8_t { ALL, FLOAT, INT, BITS, NUM };
enum class OpLevel : uint8_t { GRAPH, PROGRAM, BOTH };
/// What an op does to numbers.
enum class OpFamily : uint8_t {
  NONE,
  CONVERT,
  QUOTIENT,
  ROOT,
  POWER,
  LOG,
  ANGLE,
  SUM,
  PRODUCT,
  EXTREME,
  ORDER,
  SIGN,
  WHOLE,
  DIVISION,
  SHIFT,
  BITWISE,
  SELECT
};
/// Ops that a backend claims together.
enum class OpClaim : uint8_t {
  ALWAYS,
  PLAIN,
  MATH,
  FUSED,
  VECTOR,
  WORKGROUP,
  ATOMICS,
  SUBGROUP,
  MATRIX,
  ASYNC,
  NONE
};
/// How a C-like language says an elementwise op.
struct OpSpelling {
  enum class By : uint8_t { kOwn, kInfix, kCall, kMath };
  By by = By::kOwn;
  std::string_view word;
};

inline constexpr uint32_t kOpCommutes = 1, kOpAssociates = 2, kOpIdempotent = 4, kOpOptional = 8;

struct OpInfo {
  uint16_t op = 0;        ///< tn_opcode
  std::string_view text;  ///< of programs: "load" for TAKE
  int arity = 0;          ///< -1 where it varies
  OpKind kind = OpKind::LEAF;
  OpTypes types = OpTypes::ALL;
  OpLevel level = OpLevel::BOTH;
  uint32_t flags = 0;  ///< kOp bits
  OpFamily family = OpFamily::NONE;
  OpClaim claim = OpClaim::NONE;
  OpSpelling spelling;
};

/// All rows, by ascending code.
std::span<const OpInfo> all_ops();
/// Null if there is no such op.
const OpInfo* op_info(uint16_t op);
/// By the text of programs; null if there is none.
const OpInfo* op_by_text(std::string_view text);

constexpr bool is_elementwise(OpKind kind) {
  return kind == OpKind::UNARY || kind == OpKind::BINARY || kind == OpKind::COMPARE ||
         kind == OpKind::TERNARY;
}
constexpr bool is_elementwise(const OpInfo& op) { return is_elementwise(op.kind); }

constexpr bool takes(OpTypes types, const DTypeInfo& dtype) {
  switch (types) {
    case OpTypes::ALL:
      return true;
    case OpTypes::FLOAT:
      return is_float(dtype);
    case OpTypes::INT:
      return is_integer(dtype);
    case OpTypes::BITS:
      return is_integer(dtype) || dtype.kind == DTypeClass::BOOL;
    case OpTypes::NUM:
      return is_integer(dtype) || is_float(dtype);
  }
  return false;
}
bool takes(OpTypes types, uint8_t dtype);

}  // namespace tenon::sdk
