// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/rewrite/pattern.hpp"

#include <array>
#include <charconv>
#include <memory>

#include "core/support/error.hpp"

namespace tenon::rewrite {
namespace {

struct Pattern {
  enum class Kind { kOp, kVariable, kNumber } kind = Kind::kVariable;
  Op op = Op::INVALID;
  char variable = 0;
  double number = 0;
  bool boolean = false;  ///< a number that is a bool only
  std::vector<Pattern> operands;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  Pattern whole() {
    Pattern p = next();
    require(rest_.empty());
    return p;
  }

 private:
  void require(bool condition) const {
    if (!condition) fail(ErrorKind::kInternal, "[rewrite] expected a pattern, got {}", text_);
  }

  bool eat(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  Pattern next() {
    Pattern p;
    const std::string_view word = rest_.substr(0, rest_.find_first_of("(), "));
    require(!word.empty());
    rest_.remove_prefix(word.size());
    const auto number = std::from_chars(word.data(), word.data() + word.size(), p.number);
    if (word == "true" || word == "false") {
      p.kind = Pattern::Kind::kNumber;
      p.boolean = true;
      p.number = word == "true";
    } else if (number.ec == std::errc() && number.ptr == word.data() + word.size()) {
      p.kind = Pattern::Kind::kNumber;
    } else if (word.size() == 1) {
      p.variable = word[0];
    } else {
      const auto op = op_from_text(word);
      require(op.has_value() && eat('('));
      p.kind = Pattern::Kind::kOp;
      p.op = *op;
      do {
        while (eat(' ')) {
        }
        p.operands.push_back(next());
      } while (eat(','));
      require(eat(')') && static_cast<int>(p.operands.size()) == op_info(p.op).arity);
    }
    return p;
  }

  std::string_view text_, rest_;
};

Scalar number_of(double value, DType dtype) {
  return is_float(dtype) ? Scalar::of(dtype, value)
                         : Scalar::of_int(dtype, static_cast<int64_t>(value));
}

/// By letter; the nodes live as long as the node that is matched.
using Bindings = std::array<const NodeRef*, 26>;

bool match(const Pattern& pattern, const NodeRef& node, Bindings& bound) {
  switch (pattern.kind) {
    case Pattern::Kind::kNumber:
      return node->op == Op::CONST && (!pattern.boolean || node->dtype == DType::kBool) &&
             node->as<ConstAttr>().value == number_of(pattern.number, node->dtype);
    case Pattern::Kind::kVariable: {
      const NodeRef*& slot = bound[pattern.variable - 'a'];
      if (slot) return *slot == node;
      slot = &node;
      return true;
    }
    case Pattern::Kind::kOp:
      break;
  }
  if (node->op != pattern.op) return false;
  const Bindings before = bound;
  bool fits = true;
  for (size_t i = 0; fits && i < pattern.operands.size(); ++i)
    fits = match(pattern.operands[i], node->sources[i], bound);
  if (fits) return true;
  bound = before;
  if (!(op_info(pattern.op).flags & kCommutative)) return false;
  if (match(pattern.operands[0], node->sources[1], bound) &&
      match(pattern.operands[1], node->sources[0], bound))
    return true;
  bound = before;
  return false;
}

NodeRef build(const Pattern& pattern, const Node& root, const Bindings& bound, Builder& builder) {
  switch (pattern.kind) {
    case Pattern::Kind::kNumber:
      return builder.constant(number_of(pattern.number, root.dtype), root.shape);
    case Pattern::Kind::kVariable:
      return *bound[pattern.variable - 'a'];
    case Pattern::Kind::kOp:
      break;
  }
  std::vector<NodeRef> sources;
  for (const Pattern& operand : pattern.operands)
    sources.push_back(build(operand, root, bound, builder));
  return builder.make(pattern.op, DType::kVoid, {}, std::move(sources), std::monostate());
}

uint8_t type_bit(const Node& node) {
  const bool compares = op_info(node.op).kind == OpKind::COMPARE;
  const DType dtype = compares ? node.sources[0]->dtype : node.dtype;
  if (dtype == DType::kBool) return kBool;
  return is_float(dtype) ? kFloat : kInt;
}

}  // namespace

Rules compile(std::span<const TextRule> texts) {
  Rules rules;
  for (const TextRule& text : texts) {
    auto pattern = std::make_shared<const Pattern>(Parser(text.pattern).whole());
    auto replacement = std::make_shared<const Pattern>(Parser(text.replacement).whole());
    const uint8_t types = text.types;
    rules.push_back(
        {text.name, {pattern->op}, [=](const NodeRef& node, Builder& builder) -> NodeRef {
           Bindings bound{};
           if (!(types & type_bit(*node)) || !match(*pattern, node, bound)) return nullptr;
           return build(*replacement, *node, bound, builder);
         }});
  }
  return rules;
}

}  // namespace tenon::rewrite
