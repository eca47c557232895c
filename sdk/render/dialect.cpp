// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared code of C-family dialects.
#include "sdk/render/dialect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sdk/program/op_info.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

bool matches(Spelling::On on, uint8_t dtype) {
  switch (on) {
    case Spelling::On::kAny:
      return true;
    case Spelling::On::kBool:
      return dtype == TN_DTYPE_BOOL;
    case Spelling::On::kInteger:
      return is_integer(dtype);
    case Spelling::On::kF32:
      return dtype == TN_DTYPE_F32;
    case Spelling::On::kF64:
      return dtype == TN_DTYPE_F64;
  }
  return false;
}

/// Whether the infix operator of the language has the semantics of the op on this dtype.
bool is_infix(const OpInfo& op, uint8_t dtype, bool integers_wrap) {
  if (op.kind == OpKind::COMPARE || op.family == OpFamily::BITWISE) return true;
  if (is_integer(dtype)) return integers_wrap;
  return dtype == TN_DTYPE_F32 || dtype == TN_DTYPE_F64;
}

}  // namespace

std::string Dialect::function_name(const ProgramView& program) {
  return "kernel_" + std::string(program.name());
}

std::string Dialect::param_name(const ProgramView& program, const tn_param& param) {
  return "p_" + std::string(program.string(param.name));
}

std::string Dialect::value_name(uint32_t value) { return fmt::format("v{}", value); }

std::string_view Dialect::value_type(uint8_t dtype) const {
  const DTypeInfo* info = dtype_info(dtype);
  if (!info || (info->*data().type).empty()) {
    throw Failure(TN_ERROR_UNSUPPORTED,
                  fmt::format("{}: expected a dtype that the language has, got {}", data().name,
                              dtype_text(dtype)));
  }
  return info->*data().type;
}

std::string Dialect::allocation(const ProgramView& program, const tn_param& param,
                                const AllocationPlace&) const {
  const std::string_view space = data().array_space[param.space];
  if (!space.data()) {
    throw Failure(TN_ERROR_UNSUPPORTED,
                  fmt::format("{}: expected an address space that it has", data().name));
  }
  return fmt::format("{}{} {}[{}];", space, memory_type(static_cast<uint8_t>(param.dtype)),
                     param_name(program, param), param.count);
}

std::string Dialect::masked_store(const Element& at, const std::string& mask,
                                  const std::string& value, const tn_op& op) const {
  return fmt::format("if ({}) {{ {} }}", mask, store(at, value, op));
}

std::string Dialect::find_spelling(std::span<const Spelling> rows, uint16_t op, uint8_t dtype,
                                   std::span<const std::string> operands) {
  for (const Spelling& row : rows) {
    if (row.op == op && matches(row.on, dtype)) return fill_pattern(row.pattern, operands);
  }
  return {};
}

std::string Dialect::spell(uint16_t op, uint8_t dtype,
                           std::span<const std::string> operands) const {
  if (std::string found = find_spelling(data().spellings, op, dtype, operands); !found.empty())
    return found;
  const OpInfo& info = *op_info(op);
  const auto [by, word] = info.spelling;
  using By = OpSpelling::By;
  if (by == By::kInfix && is_infix(info, dtype, data().integers_wrap)) {
    return fmt::format("{} {} {}", operands[0], word, operands[1]);
  }
  const bool is_real = dtype == TN_DTYPE_F32 || dtype == TN_DTYPE_F64;
  if (is_real && (by == By::kCall || (by == By::kMath && data().has_math))) {
    return fmt::format("{}{}({})", word, dtype == TN_DTYPE_F32 ? data().float_suffix : "",
                       fmt::join(operands, ", "));
  }
  return fmt::format("tn_{}_{}({})", op_text(op), dtype_text(dtype), fmt::join(operands, ", "));
}

std::string Dialect::define(const tn_op& op, const std::string& name,
                            const std::string& value) const {
  return fill_pattern(data().definition, {std::string(value_type(op.dtype)), name, value});
}

std::string Dialect::declare(const tn_op& of, const std::string& name) const {
  const std::string type(value_type(of.dtype));
  return of.lanes > 1 ? fill_pattern(data().lanes, {type, name, std::to_string(of.lanes)})
                      : fill_pattern(data().variable, {type, name});
}

std::string Dialect::load(const Element& at, const tn_op&) const {
  return fmt::format("{}[{}]", at.memory, at.index);
}

std::string Dialect::store(const Element& at, const std::string& value, const tn_op&) const {
  return fmt::format("{}[{}] = {};", at.memory, at.index, value);
}

std::string Dialect::load_lanes(const Element&, const std::string&, const tn_op&) const {
  return {};
}

std::string Dialect::store_lanes(const Element&, const std::string&, uint32_t, const tn_op&) const {
  return {};
}

std::string Dialect::atomic(const Element&, const std::vector<std::string>&, const tn_op&) const {
  throw Failure(TN_ERROR_UNSUPPORTED, fmt::format("{}: has no atomics", data().name));
}

std::string Dialect::barrier(const ProgramView&, const tn_op& op) const {
  if (data().barrier[op.imm].empty()) refuse(op);
  return std::string(data().barrier[op.imm]);
}

std::string Dialect::statement(const ProgramView&, const tn_op& op, const std::string&,
                               const std::vector<std::string>&) const {
  refuse(op);
}

void Dialect::refuse(const tn_op& op) const {
  throw Failure(TN_ERROR_UNSUPPORTED,
                fmt::format("{}: has no words for {}", data().name, op_text(op.op)));
}

std::string fill_pattern(std::string_view pattern, std::span<const std::string> operands) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool is_slot = pattern[i] == '{' && i + 2 < pattern.size() && pattern[i + 2] == '}' &&
                         pattern[i + 1] >= '0' && pattern[i + 1] <= '9';
    if (!is_slot) {
      out += pattern[i];
      continue;
    }
    const auto k = static_cast<size_t>(pattern[i + 1] - '0');
    if (k < operands.size()) out += operands[k];
    i += 2;
  }
  return out;
}

std::string fill_pattern(std::string_view pattern, std::initializer_list<std::string> operands) {
  return fill_pattern(pattern, std::span(operands.begin(), operands.size()));
}

}  // namespace tenon::sdk
