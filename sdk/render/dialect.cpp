// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What languages of the C family have in common.
#include "sdk/render/dialect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sdk/program/op_info.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

const TypeName& type_row(const Dialect& dialect, uint8_t dtype) {
  const auto types = dialect.data().types;
  const auto at = std::ranges::find(types, dtype, &TypeName::dtype);
  if (at == types.end()) {
    throw Failure(TN_ERROR_UNSUPPORTED,
                  fmt::format("{}: expected a dtype that the language has, got {}",
                              dialect.data().name, dtype_text(dtype)));
  }
  return *at;
}

bool matches(Spelling::On on, uint8_t dtype, bool has_narrow_floats) {
  switch (on) {
    case Spelling::On::kAny:
      return true;
    case Spelling::On::kBool:
      return dtype == TN_DTYPE_BOOL;
    case Spelling::On::kInteger:
      return is_integer(dtype);
    case Spelling::On::kF32:
      return dtype == TN_DTYPE_F32 ||
             (has_narrow_floats && (dtype == TN_DTYPE_F16 || dtype == TN_DTYPE_BF16));
    case Spelling::On::kF64:
      return dtype == TN_DTYPE_F64;
  }
  return false;
}

}  // namespace

std::string Dialect::function_name(const ProgramView& program) {
  return "kernel_" + std::string(program.name());
}

std::string Dialect::param_name(const ProgramView& program, const tn_param& param) {
  return "p_" + std::string(program.string(param.name));
}

std::string Dialect::value_name(uint32_t value) { return fmt::format("v{}", value); }

std::string_view Dialect::value_type(uint8_t dtype) const { return type_row(*this, dtype).value; }
std::string_view Dialect::memory_type(uint8_t dtype) const { return type_row(*this, dtype).memory; }

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

bool Dialect::computes(uint16_t, uint8_t dtype) const {
  return data().has_narrow_floats && (dtype == TN_DTYPE_F16 || dtype == TN_DTYPE_BF16);
}

std::string Dialect::spell(uint16_t op, uint8_t dtype,
                           std::span<const std::string> operands) const {
  for (const Spelling& row : data().spellings) {
    if (row.op == op && matches(row.on, dtype, data().has_narrow_floats)) {
      return fill_pattern(row.pattern, operands);
    }
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
