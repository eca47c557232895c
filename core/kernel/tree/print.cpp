// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the loop tree for people.
#include <fmt/format.h>

#include "core/kernel/tree/kernel.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {}

  std::string print() {
    out_ = fmt::format("kernel {}\n", kernel_.name);
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const KernelBuffer& b = kernel_.buffers[i];
      const char* const use = b.space == BufferSpace::kScratch  ? "scratch"
                              : b.space == BufferSpace::kShared ? "shared"
                              : b.read && b.written             ? "in place"
                              : b.written                       ? "out"
                                                                : "in";
      out_ += fmt::format("  b{} {}: {}[{}] {}\n", i, b.name, dtype_name(b.dtype),
                          to_string(b.count), use);
    }
    for (const Let& let : kernel_.lets)
      out_ += fmt::format("  {} = {}\n", let.symbol, text(*let.value));
    for (const Guard& g : kernel_.guards)
      out_ += fmt::format("  real where {} < {}\n", to_string(g.lower), to_string(g.upper));
    for (const std::span<const Statement> section : sections_of(kernel_)) {
      if (!kernel_.sections.empty()) out_ += "  section\n";
      body(section, kernel_.sections.empty() ? 1 : 2);
    }
    return out_;
  }

 private:
  static std::string where(const Expr& mask) {
    return mask.is_const(1) ? "" : " where " + to_string(mask);
  }

  std::string text(const KValue& v) const {
    switch (v.kind) {
      case KValueKind::kConst:
        return to_string(v.constant);
      case KValueKind::kIndex:
        return fmt::format("{}({})", dtype_name(v.dtype), to_string(v.index));
      case KValueKind::kResult:
        return fmt::format("s{}.{}", v.reduction, v.state);
      case KValueKind::kLoad:
        return fmt::format("b{}[{}{}]", v.buffer, to_string(v.index), where(v.mask));
      case KValueKind::kOp:
        break;
    }
    std::string operands;
    for (const KValueRef& operand : v.operands)
      operands += (operands.empty() ? "" : ", ") + text(*operand);
    if (v.op == Op::CAST)
      return fmt::format("{}{}({})", dtype_name(v.dtype), v.bits ? ".bits" : "", operands);
    return fmt::format("{}{}({})", op_info(v.op).text, v.approximate ? ".approximate" : "",
                       operands);
  }

  void body(std::span<const Statement> statements, int depth) {
    for (const Statement& s : statements) one(s, depth);
  }

  void one(const Statement& s, int depth) {
    const std::string indent(static_cast<size_t>(depth) * 2, ' ');
    switch (s.kind) {
      case Statement::Kind::kLoop: {
        const KernelAxis& a = kernel_.axes[s.axis];
        const std::string bind(bind_name(a.bind));
        const std::string range = s.range ? fmt::format(" from {} to {}", to_string(s.range->begin),
                                                        to_string(s.range->end))
                                          : "";
        out_ += fmt::format("{}{} {} in {}{}{}\n", indent,
                            a.kind == AxisKind::kOrdered ? "for ordered" : "for", a.name,
                            to_string(a.extent), range, bind.empty() ? "" : " @" + bind);
        break;
      }
      case Statement::Kind::kReduce:
        for (size_t k = 0; k < s.states.size(); ++k)
          out_ += fmt::format("{}s{}.{}: {} = {}{} {}\n", indent, s.id, k,
                              dtype_name(s.states[k].dtype), s.running ? "running " : "",
                              op_info(s.states[k].op).text, text(*s.states[k].value));
        if (s.continues) {
          out_.pop_back();
          out_ += fmt::format(" after what it was times {}\n", text(*s.value));
        }
        break;
      case Statement::Kind::kStep:
        out_ += indent + "step\n";
        break;
      case Statement::Kind::kStore:
        out_ += fmt::format("{}b{}[{}] = {}{}\n", indent, s.buffer, to_string(s.index),
                            text(*s.value), where(s.mask));
        break;
      case Statement::Kind::kStage:
        out_ += fmt::format("{}stage b{}{}\n", indent, s.buffer,
                            s.ahead ? fmt::format(", {} ahead", s.ahead) : "");
        break;
      case Statement::Kind::kMatrix:
        out_ += s.use == Statement::MatrixUse::kBegin
                    ? fmt::format("{}s{}.0 = b{}[{}] by {} threads\n", indent, s.id, s.buffer,
                                  to_string(s.index), threads(s))
                    : fmt::format("{}b{}[{}] = s{}.0 by {} threads\n", indent, s.buffer,
                                  to_string(s.index), s.id, threads(s));
        break;
    }
    body(s.body, depth + 1);
  }

  static std::string threads(const Statement& s) {
    if (s.across == s.threads) return std::to_string(s.threads);
    return fmt::format("{} x {}", s.across, s.threads / s.across);
  }

  const Kernel& kernel_;
  std::string out_;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).print(); }

}  // namespace tenon
