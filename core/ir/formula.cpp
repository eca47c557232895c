// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/formula.hpp"

#include <algorithm>
#include <charconv>

#include "core/support/error.hpp"

namespace tenon {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  Formula whole() {
    Formula p = next();
    require(rest_.empty());
    return p;
  }

 private:
  void require(bool condition) const {
    if (!condition) fail(ErrorKind::kInternal, "[formula] expected a formula, got {}", text_);
  }

  bool eat(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  Formula next() {
    Formula p;
    const std::string_view word = rest_.substr(0, rest_.find_first_of("(), "));
    require(!word.empty());
    rest_.remove_prefix(word.size());
    const auto number = std::from_chars(word.data(), word.data() + word.size(), p.number);
    if (word == "true" || word == "false") {
      p.kind = Formula::Kind::kNumber;
      p.boolean = true;
      p.number = word == "true";
    } else if (number.ec == std::errc() && number.ptr == word.data() + word.size()) {
      p.kind = Formula::Kind::kNumber;
    } else if (word.size() == 1) {
      p.variable = word[0];
    } else {
      const auto op = op_from_text(word);
      require(op.has_value() && eat('('));
      p.kind = Formula::Kind::kOp;
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

}  // namespace

Formula Formula::parse(std::string_view text) { return Parser(text).whole(); }

Scalar Formula::value(DType dtype) const {
  return is_float(dtype) ? Scalar::of(dtype, number)
                         : Scalar::of_int(dtype, static_cast<int64_t>(number));
}

bool Formula::mentions(char name) const {
  return (kind == Kind::kVariable && variable == name) ||
         std::ranges::any_of(operands, [&](const Formula& f) { return f.mentions(name); });
}

NodeRef build(const Formula& formula, const Bindings& bound, DType dtype, const Shape& shape,
              Builder& builder) {
  switch (formula.kind) {
    case Formula::Kind::kNumber:
      return builder.constant(formula.value(dtype), shape);
    case Formula::Kind::kVariable:
      return *bound[formula.variable - 'a'];
    case Formula::Kind::kOp:
      break;
  }
  std::vector<NodeRef> sources;
  for (const Formula& operand : formula.operands)
    sources.push_back(build(operand, bound, dtype, shape, builder));
  return builder.make(formula.op, DType::kVoid, {}, std::move(sources), std::monostate());
}

}  // namespace tenon
