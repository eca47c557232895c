// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/op.hpp"

#include <algorithm>
#include <array>

#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr uint8_t COMM = kCommutative, ASSOC = kAssociative, IDEM = kIdempotent, HINT = kOptional;

constexpr OpInfo kOps[] = {
#define TN_OP_ROW(name, code, text, arity, kind, types, level, flags, meaning, identity, cost, \
                  family, ...)                                                                 \
  {Op::name,       #name,           text,  arity,   OpKind::kind,                              \
   OpTypes::types, OpLevel::level,  flags, meaning, OpIdentity::identity,                      \
   cost,           OpFamily::family},
#include "tenon/ops.def"
};

/// Row of each op code; codes are below 256.
constexpr auto kOpRows = [] {
  std::array<uint8_t, 256> rows{};
  rows.fill(0xFF);
  for (size_t i = 0; i < std::size(kOps); ++i)
    rows[static_cast<size_t>(kOps[i].op)] = static_cast<uint8_t>(i);
  return rows;
}();

}  // namespace

const OpInfo& op_info(Op op) {
  const auto code = static_cast<size_t>(op);
  TN_ASSERT(code < kOpRows.size() && kOpRows[code] != 0xFF);
  return kOps[kOpRows[code]];
}

std::span<const OpInfo> all_ops() { return kOps; }

std::optional<Op> op_from_text(std::string_view text) {
  const auto* row = std::ranges::find(kOps, text, &OpInfo::text);
  if (row == std::end(kOps)) return std::nullopt;
  return row->op;
}

bool is_elementwise(Op op) {
  const OpKind kind = op_info(op).kind;
  return kind == OpKind::UNARY || kind == OpKind::BINARY || kind == OpKind::COMPARE ||
         kind == OpKind::TERNARY;
}

bool is_reduction(Op op) { return op_info(op).identity != OpIdentity::NONE; }

bool takes(OpTypes types, DType dtype) {
  const bool is_bool = dtype == DType::kBool, is_integer = is_int(dtype),
             is_float = tenon::is_float(dtype);
  switch (types) {
#define TN_TYPES(word, takes) \
  case OpTypes::word:         \
    return takes;
#include "tenon/op_words.def"
  }
  return false;
}

}  // namespace tenon
