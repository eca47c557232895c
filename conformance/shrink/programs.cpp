// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer 4: smaller programs. What an edit makes may have no meaning any more, as an index outside
// its buffer: then the model refuses it, and it does not fail in the same way.
#include <functional>

#include "conformance/cases/abi/programs.hpp"
#include "conformance/cases/abi/scalars.hpp"
#include "conformance/shrink/draft.hpp"
#include "conformance/shrink/search.hpp"
#include "core/support/error.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/text.hpp"

namespace tenon::conformance::shrink {
namespace {

class ProgramShrinker {
 public:
  ProgramShrinker(Search& search, size_t step) : search_(search), step_(step) {}

  bool run() {
    bool any = false;
    for (bool again = true; again && !search_.spent();) {
      again = false;
      for (const auto pass : {&ProgramShrinker::fewer_regions, &ProgramShrinker::fewer_effects,
                              &ProgramShrinker::fewer_values, &ProgramShrinker::fewer_carries,
                              &ProgramShrinker::plainer_ops, &ProgramShrinker::lower_constants,
                              &ProgramShrinker::fewer_elements})
        again = (this->*pass)() || again;
      any = any || again;
    }
    return any;
  }

 private:
  using Edit = std::function<void(Draft&)>;

  sdk::Program program() const { return abi::program_of(search_.best().sequence->steps[step_]); }

  bool attempt(const Edit& edit) {
    if (search_.spent()) return false;
    Draft draft(program().view());
    edit(draft);
    const auto edited = draft.finish();
    if (!edited) return false;
    Case candidate = search_.best();
    candidate.sequence->steps[step_].text = sdk::print_program(edited->view());
    return search_.accept_smaller(std::move(candidate));
  }

  /// Tries something on each op, the last one first: what is above it keeps its number.
  bool each(const std::function<bool(const Draft&, uint32_t)>& attempt_one) {
    bool any = false;
    uint32_t i = program().view().op_count();
    while (i-- > 0 && !search_.spent()) {
      const Draft draft(program().view());
      if (i < draft.ops.size() && attempt_one(draft, i)) any = true;
    }
    return any;
  }

  bool fewer_regions() {
    return each([&](const Draft& draft, uint32_t i) {
      const uint16_t op = draft.at(i).op.op;
      if (op != TN_OP_IF && op != TN_OP_LOOP) return false;
      return attempt([&](Draft& d) { d.drop_region(i); }) ||
             attempt([&](Draft& d) { d.unwrap(i); });
    });
  }

  bool fewer_effects() {
    return each([&](const Draft& draft, uint32_t i) {
      const uint16_t op = draft.at(i).op.op;
      if (op != TN_OP_STORE && op != TN_OP_BARRIER && op != TN_OP_ATOMIC) return false;
      return attempt([&](Draft& d) { d.ops[i].is_gone = true; });
    });
  }

  /// A value gives way to one of its operands, or to a constant.
  bool fewer_values() {
    return each([&](const Draft& draft, uint32_t i) {
      const Draft::Op& op = draft.at(i);
      const uint16_t code = op.op.op;
      if (!draft.is_value(i) || code == TN_OP_PARAM || code == TN_OP_CONST || code == TN_OP_LOOP ||
          code == TN_OP_CARRY)
        return false;
      for (const uint32_t operand : op.operands) {
        const Draft::Op& from = draft.at(operand);
        if (from.op.dtype != op.op.dtype || from.op.lanes != op.op.lanes) continue;
        if (from.op.op == TN_OP_PARAM) continue;
        if (attempt([&](Draft& d) {
              d.replace(i, operand);
              d.ops[i].is_gone = true;
            }))
          return true;
      }
      for (const uint64_t bits : {uint64_t{0}, abi::convert(1, TN_DTYPE_U64, op.op.dtype)})
        if (attempt([&](Draft& d) { d.make_constant(i, bits); })) return true;
      return false;
    });
  }

  bool fewer_carries() {
    return each([&](const Draft& draft, uint32_t i) {
      if (draft.at(i).op.op != TN_OP_CARRY) return false;
      return attempt([&](Draft& d) {
        d.drop_carry(d.at(i).operands[0], static_cast<uint32_t>(d.at(i).op.imm));
      });
    });
  }

  /// Without flags and masks.
  bool plainer_ops() {
    return each([&](const Draft& draft, uint32_t i) {
      const Draft::Op& op = draft.at(i);
      bool any = false;
      if (op.op.flags & ~TN_OP_WHILE)
        any = attempt([&](Draft& d) { d.ops[i].op.flags &= TN_OP_WHILE; });
      const size_t plain = op.op.op == TN_OP_TAKE ? 2 : op.op.op == TN_OP_STORE ? 3 : SIZE_MAX;
      if (op.operands.size() > plain)
        any = attempt([&](Draft& d) { d.ops[i].operands.resize(plain); }) || any;
      return any;
    });
  }

  bool lower_constants() {
    return each([&](const Draft& draft, uint32_t i) {
      const tn_op& op = draft.at(i).op;
      if (op.op != TN_OP_CONST || op.imm == 0) return false;
      const uint64_t one = abi::convert(1, TN_DTYPE_U64, op.dtype);
      for (const uint64_t bits : {uint64_t{0}, one, op.imm / 2})
        if (bits != op.imm && attempt([&](Draft& d) { d.ops[i].op.imm = bits; })) return true;
      return false;
    });
  }

  bool fewer_elements() {
    bool any = false;
    for (uint32_t i = 0; i < program().view().param_count(); ++i)
      for (bool again = true; again && !search_.spent();) {
        if (i >= program().view().param_count()) break;
        const uint64_t count = program().view().param(i).count;
        again = count > 1 && attempt([&](Draft& d) { d.params[i].count = count / 2; });
        any = any || again;
      }
    for (int axis = 0; axis < 3; ++axis)
      if (program().get()->workgroup[axis] > 1)
        any = attempt([&](Draft& d) { d.workgroup[axis] = 1; }) || any;
    return any;
  }

  Search& search_;
  size_t step_;
};

}  // namespace

bool shrink_programs(Search& search) {
  bool any = false;
  for (size_t i = 0; i < search.best().sequence->steps.size(); ++i) {
    const abi::SequenceStep& step = search.best().sequence->steps[i];
    if (!abi::is_program(step)) continue;
    try {
      any = ProgramShrinker(search, i).run() || any;
    } catch (const Error&) {
      continue;  // what fails is that the text is no program
    }
  }
  return any;
}

}  // namespace tenon::conformance::shrink
