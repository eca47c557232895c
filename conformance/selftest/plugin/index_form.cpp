// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/selftest/plugin/index_form.hpp"

#include <algorithm>
#include <set>

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

namespace {

using IndexForms = std::map<uint32_t, IndexForm>;

IndexForm find_form(const Code& code, uint32_t value, IndexForms& known);

const IndexForm& form_of(const Code& code, uint32_t value, IndexForms& known) {
  const auto found = known.find(value);
  if (found != known.end()) return found->second;
  return known.emplace(value, find_form(code, value, known)).first->second;
}

IndexForm find_form(const Code& code, uint32_t value, IndexForms& known) {
  const Step& step = code.steps[value];
  IndexForm out;
  if (const auto constant = constant_of(code, value)) {
    out.constant = *constant;
    return out;
  }
  if (step.op == TN_OP_ADD || step.op == TN_OP_SUB) {
    add(out, form_of(code, step.operands[0], known), 1);
    add(out, form_of(code, step.operands[1], known), step.op == TN_OP_ADD ? 1 : -1);
    return out;
  }
  if (step.op == TN_OP_NEG) {
    add(out, form_of(code, step.operands[0], known), -1);
    return out;
  }
  if (step.op == TN_OP_MUL) {
    for (int side = 0; side < 2; ++side)
      if (const auto factor = constant_of(code, step.operands[side])) {
        add(out, form_of(code, step.operands[1 - side], known), *factor);
        return out;
      }
  }
  if (step.op == TN_OP_SHL)
    if (const auto count = constant_of(code, step.operands[1]); count && *count < 32) {
      add(out, form_of(code, step.operands[0], known), int64_t{1} << *count);
      return out;
    }
  out.terms[value] = 1;
  return out;
}

bool finds_coordinate(const Code& code, uint32_t value, std::set<uint32_t>& known) {
  if (known.contains(value)) return true;
  const Step& step = code.steps[value];
  if (step.op == TN_OP_INDEX || step.op == TN_OP_CONST || step.op == TN_OP_LOOP) return true;
  if (step.op == TN_OP_TAKE || step.op == TN_OP_CARRY || step.op == TN_OP_PARAM) return false;
  const bool all = std::ranges::all_of(
      step.operands, [&](uint32_t operand) { return finds_coordinate(code, operand, known); });
  if (step.operands.empty() || !all) return false;  // and so is every value above
  known.insert(value);
  return true;
}

}  // namespace

IndexForm index_form(const Code& code, uint32_t value) {
  IndexForms known;
  return form_of(code, value, known);
}

bool is_coordinate(const Code& code, uint32_t value) {
  std::set<uint32_t> known;
  return finds_coordinate(code, value, known);
}

}  // namespace tenon::planted
