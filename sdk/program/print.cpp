// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints a verified program: one op per line, type at the end.
#include <fmt/format.h>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"
#include "sdk/program/text.hpp"
#include "sdk/program/words.hpp"

namespace tenon::sdk {
namespace {

class Printer {
 public:
  explicit Printer(const ProgramView& program) : program_(program) {}

  std::string run() {
    const tn_program& header = program_.header();
    add("program {}(", program_.name());
    uint32_t first = 0;
    for (; first < program_.op_count() && is_argument(program_.op(first)); ++first) {
      add("{}{}: {}", first ? ", " : "", value(first), param_text(program_.op(first)));
    }
    add(") workgroup {} {} {}", header.workgroup[0], header.workgroup[1], header.workgroup[2]);
    if (header.subgroup_size) add(" subgroup {}", header.subgroup_size);
    add(" {{\n");
    for (uint32_t i = first; i < program_.op_count(); ++i) print_op(i, program_.op(i));
    add("}}\n");
    return std::move(out_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  bool is_argument(const tn_op& op) const {
    return op.op == TN_OP_PARAM && param_of(op).kind != TN_PARAM_ALLOC;
  }
  const tn_param& param_of(const tn_op& op) const {
    return program_.param(static_cast<uint32_t>(op.imm));
  }

  std::string value(uint32_t i) const {
    const tn_op& op = program_.op(i);
    if (op.op == TN_OP_PARAM) return fmt::format("%{}", program_.string(param_of(op).name));
    return fmt::format("%{}", i);
  }

  static std::string type(const tn_op& op) {
    if (op.lanes == 1) return std::string(dtype_text(op.dtype));
    return fmt::format("{}x{}", dtype_text(op.dtype), op.lanes);
  }

  std::string param_text(const tn_op& op) const {
    const tn_param& param = param_of(op);
    const auto dtype = static_cast<uint8_t>(param.dtype);
    if (param.kind == TN_PARAM_SCALAR) {
      if (!is_integer(dtype)) return std::string(dtype_text(dtype));
      return fmt::format("{} in [{}, {}]", dtype_text(dtype), param.minimum, param.maximum);
    }
    std::string text =
        fmt::format("{} {}", words::text_of(words::kSpaces, param.space), dtype_text(dtype));
    if (param.count) text += fmt::format("[{}]", param.count);
    if (param.kind == TN_PARAM_BUFFER) text += flag_text(words::kAccess, param.access);
    if (param.alignment != dtype_bytes(dtype)) text += fmt::format(" align {}", param.alignment);
    return text;
  }

  template <class Words>
  static std::string flag_text(const Words& words, uint32_t flags) {
    std::string text;
    for (const words::Word& word : words) {
      if (flags & word.value) text.append(" ").append(word.text);
    }
    return text;
  }

  std::string operand_text(std::span<const uint32_t> operands) const {
    std::string text;
    for (uint32_t operand : operands) text += (text.empty() ? " " : ", ") + value(operand);
    return text;
  }

  /// Opcode with suffixes.
  std::string op_name(const tn_op& op) const {
    std::string name(op_text(op.op));
    if (op.op == TN_OP_CONST) return name + " " + scalar_text(op.imm, op.dtype);
    if (op.op == TN_OP_INDEX) return name + " " + std::string(words::text_of(words::kAxes, op.imm));
    if (op.op == TN_OP_CAST && op.imm == TN_CAST_BITS) return name + ".bits";
    if (op.op == TN_OP_LANE_REDUCE || op.op == TN_OP_SUBGROUP_REDUCE) {
      return name + "." + std::string(op_text(static_cast<uint16_t>(op.imm)));
    }
    if (op.op == TN_OP_BARRIER) {
      return name + " " + std::string(words::text_of(words::kScopes, op.imm));
    }
    if (op.op == TN_OP_ATOMIC) {
      return fmt::format("{}.{}.{}", name, words::text_of(words::kAtomics, op.imm & 0xff),
                         words::text_of(words::kScopes, op.imm >> 8));
    }
    if (op.op == TN_OP_MATRIX_LOAD || op.op == TN_OP_MATRIX_STORE) {
      return fmt::format("{}.{}.{}{}{}", name, static_cast<uint32_t>(op.imm),
                         words::text_of(words::kRoles, (op.imm & TN_MATRIX_ROLE) >> 32),
                         op.imm & TN_MATRIX_TRANSPOSED ? ".transposed" : "",
                         op.imm & TN_MATRIX_LINES ? ".lines" : "");
    }
    if (op.op == TN_OP_MATRIX_MULTIPLY || op.op == TN_OP_ASYNC_COPY) {
      return fmt::format("{}.{}", name, op.imm);
    }
    if (op.op == TN_OP_ASYNC_WAIT) return fmt::format("{} {}", name, op.imm);
    return name;
  }

  void print_op(uint32_t i, const tn_op& op) {
    std::span<const uint32_t> operands = program_.operands(op);
    if (op.op == TN_OP_END || op.op == TN_OP_ELSE) {
      if (!operands.empty()) add("{:{}}end{}\n", "", depth_ * 2, operand_text(operands));
      --depth_;
      add("{:{}}{}\n", "", depth_ * 2, op.op == TN_OP_ELSE ? "} else {" : "}");
      if (op.op == TN_OP_ELSE) ++depth_;
      return;
    }
    add("{:{}}", "", depth_ * 2);
    if (op.lanes) add("{} = ", value(i));
    if (op.op == TN_OP_PARAM) {
      add("param {}\n", param_text(op));
      return;
    }
    if (op.op == TN_OP_LOOP) {
      initial_ = operands.subspan(3);
      operands = operands.first(3);
    }
    if (op.op == TN_OP_CARRY) operands = initial_.subspan(op.imm, 1);
    add("{}{}", op_name(op), operand_text(operands));
    if (op.op == TN_OP_EXTRACT || op.op == TN_OP_SUBGROUP_BROADCAST) add(", {}", op.imm);
    add("{}", flag_text(words::kFlags, op.flags));
    if (op.lanes) add(" : {}", type(op));
    const bool opens = op.op == TN_OP_LOOP || op.op == TN_OP_IF;
    if (opens) ++depth_;
    add("{}\n", opens ? " {" : "");
  }

  ProgramView program_;
  std::string out_;
  int depth_ = 1;
  std::span<const uint32_t> initial_;  ///< initial values of the open loop, for its CARRY ops
};

}  // namespace

std::string print_program(const ProgramView& program) { return Printer(program).run(); }

}  // namespace tenon::sdk
