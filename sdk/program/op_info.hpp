// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of tenon/ops.def as data, for verifiers, printers and generators.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sdk/program/dtype_info.hpp"
#include "tenon/program.h"

namespace tenon::sdk {

// Named as in ops.def.
enum class OpKind : uint8_t {
#define TN_KIND(word) word,
#include "tenon/op_words.def"
};
enum class OpTypes : uint8_t {
#define TN_TYPES(word, takes) word,
#include "tenon/op_words.def"
};
enum class OpLevel : uint8_t {
#define TN_LEVEL(word) word,
#include "tenon/op_words.def"
};
/// Numerical family of an op.
enum class OpFamily : uint8_t {
#define TN_FAMILY(word) word,
#include "tenon/op_words.def"
};
/// How C-like languages spell an elementwise op.
struct OpSpelling {
  enum class By : uint8_t { kOwn, kInfix, kCall, kMath };
  By by = By::kOwn;
  std::string_view word;
};

inline constexpr uint32_t kOpCommutes = 1, kOpAssociates = 2, kOpIdempotent = 4, kOpOptional = 8;

struct OpInfo {
  uint16_t op = 0;        ///< tn_opcode
  std::string_view text;  ///< name in the text form: "load" for TAKE
  int arity = 0;          ///< -1 where it varies
  OpKind kind = OpKind::LEAF;
  OpTypes types = OpTypes::ALL;
  OpLevel level = OpLevel::BOTH;
  uint32_t flags = 0;  ///< kOp bits
  OpFamily family = OpFamily::NONE;
  OpSpelling spelling;
};

/// All rows, by ascending code.
std::span<const OpInfo> all_ops();
/// Null if unknown.
const OpInfo* op_info(uint16_t op);
/// By name in the text form; null if unknown.
const OpInfo* op_by_text(std::string_view text);

constexpr bool is_elementwise(OpKind kind) {
  return kind == OpKind::UNARY || kind == OpKind::BINARY || kind == OpKind::COMPARE ||
         kind == OpKind::TERNARY;
}
constexpr bool is_elementwise(const OpInfo& op) { return is_elementwise(op.kind); }

constexpr bool takes(OpTypes types, const DTypeInfo& dtype) {
  const bool is_bool = dtype.kind == DTypeClass::BOOL, is_integer = sdk::is_integer(dtype),
             is_float = sdk::is_float(dtype);
  switch (types) {
#define TN_TYPES(word, takes) \
  case OpTypes::word:         \
    return takes;
#include "tenon/op_words.def"
  }
  return false;
}
bool takes(OpTypes types, uint8_t dtype);

}  // namespace tenon::sdk
