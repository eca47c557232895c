// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What languages of the C family have in common.
#include "sdk/render/dialect.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sdk/helpers/failure.hpp"
#include "sdk/helpers/op_info.hpp"

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

}  // namespace

std::string Dialect::function_name(const ProgramView& program) {
  return "kernel_" + std::string(program.name());
}

std::string Dialect::param_name(const ProgramView& program, const tn_param& param) {
  return "p_" + std::string(program.string(param.name));
}

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

std::string Dialect::load(std::string_view memory, const std::string& index, const tn_op&) const {
  return fmt::format("{}[{}]", memory, index);
}

std::string Dialect::store(std::string_view memory, const std::string& index,
                           const std::string& value, const tn_op&) const {
  return fmt::format("{}[{}] = {};", memory, index, value);
}

std::string Dialect::atomic(std::string_view, const std::vector<std::string>&, const tn_op&) const {
  throw Failure(TN_ERROR_UNSUPPORTED, fmt::format("{}: has no atomics", data().name));
}

std::string Dialect::statement(const ProgramView&, const tn_op& op, const std::string&,
                               const std::vector<std::string>&) const {
  throw Failure(TN_ERROR_UNSUPPORTED,
                fmt::format("{}: has no words for {}", data().name, op_text(op.op)));
}

std::string fill_pattern(std::string_view pattern, std::span<const std::string> operands) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool is_slot = pattern[i] == '{' && i + 2 < pattern.size() && pattern[i + 2] == '}' &&
                         pattern[i + 1] >= '0' && pattern[i + 1] <= '2';
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

}  // namespace tenon::sdk
