// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/program/verify_uniform.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "sdk/program/op_groups.hpp"
#include "sdk/program/uniform_values.hpp"

namespace tenon::sdk {
namespace {

/// The scope of threads that must reach an op together; empty if threads may reach it alone.
std::optional<tn_scope> meeting(const tn_op& op) {
  if (op.op == TN_OP_BARRIER) return static_cast<tn_scope>(op.imm);
  const bool is_subgroup_op = op.op >= TN_OP_SUBGROUP_SHUFFLE && op.op <= TN_OP_SUBGROUP_BROADCAST;
  if (is_subgroup_op || is_matrix_op(op.op)) return TN_SCOPE_SUBGROUP;
  return {};
}

const char* name_of(tn_scope scope) { return scope == TN_SCOPE_BLOCK ? "workgroup" : "subgroup"; }

class UniformCheck {
 public:
  explicit UniformCheck(const ProgramView& program) : program_(program) {}

  std::string run(uint32_t& at) {
    for (uint32_t i = 0; i < program_.op_count(); ++i) {
      const tn_op& op = program_.op(i);
      if (op.op == TN_OP_END) around_.pop_back();
      if (op.op == TN_OP_LOOP || op.op == TN_OP_IF) around_.push_back(i);
      const std::optional<tn_scope> scope = meeting(op);
      if (!scope) continue;
      at = i;
      if (auto e = check(op, *scope); !e.empty()) return e;
    }
    return {};
  }

 private:
  /// Computed at first use.
  const UniformValues& values(tn_scope scope) {
    auto& of_scope = scope == TN_SCOPE_BLOCK ? of_block_ : of_subgroup_;
    if (!of_scope) of_scope.emplace(program_, scope);
    return *of_scope;
  }

  std::string check(const tn_op& op, tn_scope scope) {
    for (const uint32_t opener : around_) {
      const bool is_loop = program_.op(opener).op == TN_OP_LOOP;
      const UniformValues& known = values(scope);
      uint32_t condition = is_loop ? opener : program_.operands(program_.op(opener))[0];
      if (is_loop ? known.ends_equal(opener) : known.is_equal(condition)) continue;
      const bool is_while = is_loop && known.bounds_are_equal(opener);
      if (is_while) condition = known.condition(opener);
      return fmt::format(
          "expected to be reached by all threads of a {0} or none, got {1} %{2}{3}, which may "
          "differ "
          "between them",
          name_of(scope), is_loop && !is_while ? "the bounds of the loop" : "the condition",
          condition, is_loop && !is_while ? "" : fmt::format(" of op {}", opener));
    }
    return is_matrix_op(op.op) && op.op != TN_OP_MATRIX_MULTIPLY ? check_place(op) : std::string();
  }

  /// Checks that index and stride of a matrix access are uniform.
  std::string check_place(const tn_op& op) {
    for (const uint32_t k : {1u, 2u}) {
      const uint32_t value = program_.operands(op)[k];
      if (program_.op(value).op == TN_OP_CONST || values(TN_SCOPE_SUBGROUP).is_equal(value))
        continue;
      return fmt::format(
          "expected an operand {} that is equal in all threads of a subgroup, got %{}", k, value);
    }
    return {};
  }

  ProgramView program_;
  std::vector<uint32_t> around_;  ///< openers of the regions
  std::optional<UniformValues> of_block_, of_subgroup_;
};

}  // namespace

std::string check_uniform(const ProgramView& program, uint32_t& at) {
  const uint32_t* size = program.header().workgroup;
  if (size[0] == 1 && size[1] == 1 && size[2] == 1) return {};  // one thread is always uniform
  return UniformCheck(program).run(at);
}

}  // namespace tenon::sdk
