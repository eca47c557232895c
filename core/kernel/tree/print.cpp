// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the loop tree for people. A value is printed as a tree while that is small. Of a larger
// one, the values below it that several others use are named first, as in "%0 = add(b0[a0], 1)", so
// the text is as long as the DAG. A name stands for its value from there on.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/kernel/tree/kernel.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// Values of a tree that is printed as one.
constexpr uint64_t kMostOfTree = 64;
/// Values of a tree that is not worth a name.
constexpr uint64_t kFewOfTree = 4;

/// Values as text, with names for those that large trees share.
class ValueText {
 public:
  explicit ValueText(const Kernel& kernel) {
    for (const Let& let : kernel.lets) count(let.value);
    walk(kernel.body, [&](const Statement& s) {
      if (s.value) count(s.value);
      for (const ReduceState& state : s.states) count(state.value);
    });
  }

  /// A line "%0 = ..." for each value that the text of `root` names first.
  std::string names(const KValueRef& root, const std::string& indent) {
    std::string out;
    if (uses_.at(root.get()).tree <= kMostOfTree) return out;
    visit(root, [&](const KValueRef& v) {  // operands first
      const Use& use = uses_.at(v.get());
      if (v == root || use.count < 2 || use.tree <= kFewOfTree || named_.contains(v.get())) return;
      const std::string text = of(*v);
      const size_t number = named_.emplace(v.get(), named_.size()).first->second;
      out += fmt::format("{}%{} = {}\n", indent, number, text);
    });
    return out;
  }

  std::string of(const KValue& v) const {
    if (const auto name = named_.find(&v); name != named_.end())
      return fmt::format("%{}", name->second);
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
      operands += (operands.empty() ? "" : ", ") + of(*operand);
    if (v.op == Op::CAST)
      return fmt::format("{}{}({})", dtype_name(v.dtype), v.bits ? ".bits" : "", operands);
    return fmt::format("{}{}({})", op_info(v.op).text, v.approximate ? ".approximate" : "",
                       operands);
  }

  static std::string where(const Expr& mask) {
    return mask.is_const(1) ? "" : " where " + to_string(mask);
  }

 private:
  struct Use {
    uint64_t count = 0;
    uint64_t tree = 1;  ///< values below, each as often as it is used; saturates
  };

  void count(const KValueRef& v) {
    const auto [known, is_new] = uses_.try_emplace(v.get());
    ++known->second.count;
    if (!is_new) return;
    uint64_t tree = 1;
    for (const KValueRef& operand : v->operands) {
      count(operand);
      tree = std::min(tree + uses_.at(operand.get()).tree, uint64_t{1} << 32);
    }
    uses_.at(v.get()).tree = tree;
  }

  std::unordered_map<const KValue*, Use> uses_;
  std::unordered_map<const KValue*, size_t> named_;
};

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel), values_(kernel) {}

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
    for (const Let& let : kernel_.lets) {
      out_ += values_.names(let.value, "  ");
      out_ += fmt::format("  {} = {}\n", let.symbol, values_.of(*let.value));
    }
    for (const Guard& g : kernel_.guards)
      out_ += fmt::format("  real where {} < {}\n", to_string(g.lower), to_string(g.upper));
    for (const std::span<const Statement> section : sections_of(kernel_)) {
      if (!kernel_.sections.empty()) out_ += "  section\n";
      body(section, kernel_.sections.empty() ? 1 : 2);
    }
    return out_;
  }

 private:
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
        for (const ReduceState& state : s.states) out_ += values_.names(state.value, indent);
        for (size_t k = 0; k < s.states.size(); ++k)
          out_ += fmt::format("{}s{}.{}: {} = {}{} {}\n", indent, s.id, k,
                              dtype_name(s.states[k].dtype), s.running ? "running " : "",
                              op_info(s.states[k].op).text, values_.of(*s.states[k].value));
        if (s.continues) {
          out_.pop_back();
          out_ += fmt::format(" after what it was times {}\n", values_.of(*s.value));
        }
        break;
      case Statement::Kind::kStep:
        out_ += indent + "step\n";
        break;
      case Statement::Kind::kStore:
        out_ += values_.names(s.value, indent);
        out_ += fmt::format("{}b{}[{}] = {}{}\n", indent, s.buffer, to_string(s.index),
                            values_.of(*s.value), ValueText::where(s.mask));
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
  ValueText values_;
  std::string out_;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).print(); }

}  // namespace tenon
