// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators, generated from ops.def: enum and rows. Nothing else lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/ir/dtype.hpp"

namespace tenon {

enum class Op : uint16_t {
  INVALID = 0,
#define TN_OP(name, code, text, arity, kind, types, level, flags, meaning) name = code,
#include "tenon/ops.def"
};

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
enum class OpIdentity : uint8_t {
#define TN_IDENTITY(word) word,
#include "tenon/op_words.def"
};
/// Numerical family of an op.
enum class OpFamily : uint8_t {
#define TN_FAMILY(word) word,
#include "tenon/op_words.def"
};

enum OpFlags : uint8_t { kCommutative = 1, kAssociative = 2, kIdempotent = 4, kOptional = 8 };

struct OpInfo {
  Op op;
  std::string_view name;  ///< "CMPLT"
  std::string_view text;  ///< "cmplt", as in the text form
  int arity;              ///< -1 where it varies
  OpKind kind;
  OpTypes types;
  OpLevel level;
  uint8_t flags;  ///< OpFlags
  std::string_view meaning;
  OpIdentity identity;
  uint8_t cost;  ///< of one element, relative to an addition
  OpFamily family;
};

const OpInfo& op_info(Op op);
std::span<const OpInfo> all_ops();
std::optional<Op> op_from_text(std::string_view text);

/// Whether the op is UNARY, BINARY, COMPARE or TERNARY.
bool is_elementwise(Op op);
/// Whether REDUCE takes the op: add, mul, max, min.
bool is_reduction(Op op);
inline OpFamily op_family(Op op) { return op_info(op).family; }
/// Whether a row of ops.def with these TYPES has operands of the dtype.
bool takes(OpTypes types, DType dtype);
inline bool is_optional(Op op) { return op_info(op).flags & kOptional; }

}  // namespace tenon
