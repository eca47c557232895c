// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/selftest/plugin/index_form.hpp"

#include <algorithm>

namespace tenon::planted {
namespace {

void add(IndexForm& to, const IndexForm& from, int64_t factor) {
  to.constant += from.constant * factor;
  for (const auto& [value, coefficient] : from.terms)
    if ((to.terms[value] += coefficient * factor) == 0) to.terms.erase(value);
}

}  // namespace

bool IndexForm::goes_backwards() const {
  return std::ranges::any_of(terms, [](const auto& term) { return term.second < 0; });
}

std::optional<int64_t> constant_of(const Code& code, uint32_t value) {
  const Step& step = code.steps[value];
  if (step.op != TN_OP_CONST) return std::nullopt;
  return static_cast<int64_t>(sdk::convert(step.imm, step.dtype, TN_DTYPE_I64));
}

IndexForm index_form(const Code& code, uint32_t value) {
  const Step& step = code.steps[value];
  IndexForm out;
  if (const auto constant = constant_of(code, value)) {
    out.constant = *constant;
    return out;
  }
  if (step.op == TN_OP_ADD || step.op == TN_OP_SUB) {
    add(out, index_form(code, step.operands[0]), 1);
    add(out, index_form(code, step.operands[1]), step.op == TN_OP_ADD ? 1 : -1);
    return out;
  }
  if (step.op == TN_OP_NEG) {
    add(out, index_form(code, step.operands[0]), -1);
    return out;
  }
  if (step.op == TN_OP_MUL) {
    for (int side = 0; side < 2; ++side)
      if (const auto factor = constant_of(code, step.operands[side])) {
        add(out, index_form(code, step.operands[1 - side]), *factor);
        return out;
      }
  }
  if (step.op == TN_OP_SHL)
    if (const auto count = constant_of(code, step.operands[1]); count && *count < 32) {
      add(out, index_form(code, step.operands[0]), int64_t{1} << *count);
      return out;
    }
  out.terms[value] = 1;
  return out;
}

bool is_coordinate(const Code& code, uint32_t value) {
  const Step& step = code.steps[value];
  if (step.op == TN_OP_INDEX || step.op == TN_OP_CONST || step.op == TN_OP_LOOP) return true;
  if (step.op == TN_OP_TAKE || step.op == TN_OP_CARRY || step.op == TN_OP_PARAM) return false;
  return !step.operands.empty() && std::ranges::all_of(step.operands, [&](uint32_t operand) {
    return is_coordinate(code, operand);
  });
}

}  // namespace tenon::planted
