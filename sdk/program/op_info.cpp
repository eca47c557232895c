// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/program/op_info.hpp"

#include <algorithm>
#include <iterator>

#include "sdk/program/view.hpp"

namespace tenon::sdk {
namespace {

// Other words that ops.def uses in its columns.
namespace op_rows {
constexpr uint32_t COMM = kOpCommutes, ASSOC = kOpAssociates, IDEM = kOpIdempotent,
                   HINT = kOpOptional;
constexpr OpSpelling OWN = {};
constexpr OpSpelling INFIX(std::string_view word) { return {OpSpelling::By::kInfix, word}; }
constexpr OpSpelling CALL(std::string_view word) { return {OpSpelling::By::kCall, word}; }
constexpr OpSpelling MATH(std::string_view word) { return {OpSpelling::By::kMath, word}; }

constexpr OpInfo kOps[] = {
#define TN_OP_ROW(name, code, text, arity, kind, types, level, flags, meaning, identity, cost, of, \
                  spelling, ...)                                                                   \
  {code,           code == TN_OP_TAKE ? "load" : text,                                             \
   arity,          OpKind::kind,                                                                   \
   OpTypes::types, OpLevel::level,                                                                 \
   flags,          OpFamily::of,                                                                   \
   spelling},
#include "tenon/ops.def"
};
}  // namespace op_rows
}  // namespace

std::span<const OpInfo> all_ops() { return op_rows::kOps; }

const OpInfo* op_info(uint16_t op) {
  const auto* at = std::ranges::lower_bound(op_rows::kOps, op, {}, &OpInfo::op);
  return at == std::end(op_rows::kOps) || at->op != op ? nullptr : at;
}

const OpInfo* op_by_text(std::string_view text) {
  const auto* at = std::ranges::find(op_rows::kOps, text, &OpInfo::text);
  return at == std::end(op_rows::kOps) ? nullptr : at;
}

bool takes(OpTypes types, uint8_t dtype) {
  const DTypeInfo* row = dtype_info(dtype);
  return row && takes(types, *row);
}

std::string_view op_text(uint16_t op) {
  const OpInfo* info = op_info(op);
  return info ? info->text : "?";
}

}  // namespace tenon::sdk
