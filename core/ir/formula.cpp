// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/formula.hpp"

#include <algorithm>
#include <cmath>

#include "core/ir/text/cursor.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr int kMaxDepth = 64;

bool is_symbol_char(char c) {
  return sdk::is_letter(c) || sdk::is_digit(c) || c == '.' || c == '+' || c == '-';
}

Formula parse_at(Cursor& cursor, int depth) {
  Formula f;
  const size_t start = cursor.position();
  if (depth > kMaxDepth)
    cursor.error_at(start,
                    fmt::format("expected at most {} ops in each other, got more", kMaxDepth));
  const std::string_view word = cursor.run(is_symbol_char);
  const auto number = sdk::number_of<double>(word);
  if (word == "true" || word == "false") {
    f.kind = Formula::Kind::kNumber;
    f.boolean = true;
    f.number = word == "true";
  } else if (number) {
    f.kind = Formula::Kind::kNumber;
    f.number = *number;
  } else if (word.size() == 1 && word[0] >= 'a' && word[0] <= 'z') {
    f.variable = word[0];
  } else {
    const auto op = op_from_text(word);
    if (!op || !is_elementwise(*op) || *op == Op::CAST || op_info(*op).level == OpLevel::PROGRAM) {
      cursor.seek(start);
      cursor.expected("an elementwise op, a variable (one lower-case letter) or a number");
    }
    f.kind = Formula::Kind::kOp;
    f.op = *op;
    cursor.expect("(");
    do {
      f.operands.push_back(parse_at(cursor, depth + 1));
    } while (cursor.accept(","));
    cursor.expect(")");
    const int arity = op_info(*op).arity;
    if (static_cast<int>(f.operands.size()) != arity)
      cursor.error_at(
          start, fmt::format("expected {} operands of {}, got {}", arity, word, f.operands.size()));
  }
  return f;
}

}  // namespace

Formula Formula::parse(Cursor& cursor) { return parse_at(cursor, 0); }

Formula Formula::parse(std::string_view text) {
  Cursor cursor(text, "formula");
  try {
    Formula f = parse(cursor);
    if (!cursor.at_end()) cursor.expected("the end");
    return f;
  } catch (const Error& error) {
    throw Error(ErrorKind::kInternal, error.what());
  }
}

Scalar Formula::value(DType dtype) const {
  if (is_float(dtype)) return Scalar::of(dtype, number);
  // A number that no integer holds becomes 0. Rules of applications are checked not to have any.
  return Scalar::of_int(dtype, std::abs(number) < 0x1p63 ? static_cast<int64_t>(number) : 0);
}

bool Formula::mentions(char name) const {
  return (kind == Kind::kVariable && variable == name) ||
         std::ranges::any_of(operands, [&](const Formula& f) { return f.mentions(name); });
}

NodeRef build(const Formula& formula, const Bindings& bound, DType dtype, const Shape& shape,
              Builder& builder) {
  switch (formula.kind) {
    case Formula::Kind::kNumber:
      if (formula.boolean) dtype = DType::kBool;
      if (formula.typed_as) dtype = (*bound[formula.typed_as - 'a'])->dtype;
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
