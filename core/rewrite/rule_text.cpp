// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/rewrite/rule_text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "core/ir/text/cursor.hpp"
#include "core/rewrite/pattern.hpp"
#include "core/support/error.hpp"

namespace tenon::rewrite {
namespace {

constexpr size_t kMaxRules = 10000;

/// Type inference: finds which parts of a rule have equal dtypes.
class TypeInference {
 public:
  TypeInference() : same_(kBool + 1) { std::iota(same_.begin(), same_.end(), size_t{0}); }

  /// The type class of a formula, after unifying the classes of its parts. Numbers are recorded.
  size_t visit(Formula& f) {
    if (f.kind == Formula::Kind::kVariable) return static_cast<size_t>(f.variable - 'a');
    if (f.kind == Formula::Kind::kNumber) {
      same_.push_back(same_.size());
      numbers_.emplace_back(&f, same_.size() - 1);
      if (f.boolean) unify(same_.size() - 1, kBool);
      return same_.size() - 1;
    }
    std::vector<size_t> types;
    for (Formula& operand : f.operands) types.push_back(visit(operand));
    first_operand_ = types[0];
    if (f.op == Op::SHL || f.op == Op::SHR) {
      // A shift amount may have another dtype; a constant has the same.
      if (f.operands[1].kind == Formula::Kind::kNumber) unify(types[0], types[1]);
      return types[0];
    }
    if (f.op == Op::WHERE) unify(types[0], kBool);
    for (size_t i = f.op == Op::WHERE ? 2 : 1; i < types.size(); ++i) unify(types[i - 1], types[i]);
    return op_info(f.op).kind == OpKind::COMPARE ? kBool : types.back();
  }

  void unify(size_t a, size_t b) { same_[find(a)] = find(b); }
  size_t find(size_t a) const {
    while (same_[a] != a) a = same_[a];
    return a;
  }
  bool is_bool(size_t a) const { return find(a) == find(kBool); }
  const std::vector<std::pair<Formula*, size_t>>& numbers() const { return numbers_; }
  size_t first_operand() const {
    return first_operand_;
  }  ///< class of the first operand of the last visited op

 private:
  static constexpr size_t kBool = 26;  ///< index of the class of bool, after the 26 letters
  std::vector<size_t> same_;           ///< union-find parents
  std::vector<std::pair<Formula*, size_t>> numbers_;
  size_t first_operand_ = 0;
};

void collect_variables(const Formula& f, std::string& out) {
  if (f.kind == Formula::Kind::kVariable && out.find(f.variable) == std::string::npos)
    out += f.variable;
  for (const Formula& operand : f.operands) collect_variables(operand, out);
}

/// "int", "float", "bool" or a dtype's name.
DTypeSet types_named(std::string_view word) {
  if (const auto dtype = dtype_from_name(word)) return dtype_bit(*dtype);
  DTypeSet set = 0;
  for (const DType dtype : all_dtypes())
    if ((word == "int" && is_int(dtype)) || (word == "float" && is_float(dtype)))
      set |= dtype_bit(dtype);
  return set;
}

class RuleParser {
 public:
  RuleParser(std::string_view text, std::string_view origin)
      : cursor_(text, origin), origin_(origin) {}

  std::vector<WrittenRule> all() {
    std::vector<WrittenRule> rules;
    while (!cursor_.at_end()) {
      if (rules.size() == kMaxRules)
        cursor_.error_at(cursor_.position(), fmt::format("expected at most {} rules", kMaxRules));
      rules.push_back(rule());
    }
    return rules;
  }

 private:
  WrittenRule rule() {
    WrittenRule rule;
    const size_t start = cursor_.position();
    rule.place = fmt::format("{}:{}", origin_, cursor_.place(start).line);
    rule.name = cursor_.name("a rule's name");
    cursor_.expect(":");
    const size_t left = cursor_.position();
    rule.pattern = Formula::parse(cursor_);
    if (rule.pattern.kind != Formula::Kind::kOp)
      cursor_.error_at(left, "expected an op on the left side, got a variable or a number");
    cursor_.expect("->");
    const size_t right = cursor_.position();
    rule.replacement = Formula::parse(cursor_);
    // Asking for a token skips to the next line, so line ends are checked first.
    bool ends = cursor_.line_ends();
    if (!ends && cursor_.accept_word("where")) ends = where(rule);
    if (!ends && cursor_.accept_word("approximate")) {
      rule.approximate = true;
      ends = cursor_.line_ends();
    }
    if (!ends) cursor_.expected("'where', 'approximate' or the end of the line");
    type(rule, left, right);
    return rule;
  }

  /// Parses the `where` part. Returns whether the line ends after it.
  bool where(WrittenRule& rule) {
    rule.types = 0;
    for (;;) {
      const size_t start = cursor_.position();
      const std::string word = cursor_.identifier("a dtype, int or float");
      const DTypeSet named = types_named(word);
      if (named == 0) {
        cursor_.seek(start);
        cursor_.expected("a dtype, int or float");
      }
      rule.types |= named;
      if (cursor_.line_ends()) return true;
      if (!cursor_.accept(",")) return false;
    }
  }

  void type(WrittenRule& rule, size_t left, size_t right) const {
    collect_variables(rule.pattern, rule.variables);
    if (rule.variables.empty())
      cursor_.error_at(left, "expected a variable on the left side, got numbers alone");
    std::string wanted;
    collect_variables(rule.replacement, wanted);
    for (const char variable : wanted)
      if (rule.variables.find(variable) == std::string::npos)
        cursor_.error_at(right, fmt::format("expected variables of the left side ({}), got '{}'",
                                            fmt::join(rule.variables, ", "), variable));

    TypeInference inference;
    const size_t result = inference.visit(rule.pattern);
    const bool compares = op_info(rule.pattern.op).kind == OpKind::COMPARE;
    const size_t own = compares ? inference.first_operand() : result;
    inference.unify(inference.visit(rule.replacement), result);

    std::vector<size_t> found;  // the classes of RuleDTypes
    const auto number_of = [&](size_t part, int holder) {
      if (inference.is_bool(part)) return WrittenRule::kBoolOnly;
      const size_t type = inference.find(part);
      auto at = std::ranges::find(found, type);
      if (at == found.end()) {
        if (found.size() == 2)
          cursor_.error_at(left, "expected at most two dtypes that differ, got more");
        at = found.insert(at, type);
      }
      const auto number = static_cast<int>(at - found.begin());
      if (rule.holder[static_cast<size_t>(number)] < 0)
        rule.holder[static_cast<size_t>(number)] = holder;
      return number;
    };
    // If the own dtype is bool, the first entry stays empty.
    found.push_back(inference.is_bool(own) ? SIZE_MAX : inference.find(own));
    rule.type_of[WrittenRule::kResult] = number_of(result, WrittenRule::kResult);
    for (const char variable : rule.variables) {
      const int letter = variable - 'a';
      rule.type_of[static_cast<size_t>(letter)] = number_of(static_cast<size_t>(letter), letter);
    }
    for (const auto& [number, part] : inference.numbers()) {
      if (inference.is_bool(part)) {
        number->boolean = true;
        continue;
      }
      const auto at = std::ranges::find(found, inference.find(part));
      const int holder =
          at == found.end() ? -1 : rule.holder[static_cast<size_t>(at - found.begin())];
      if (holder < 0)
        cursor_.error_at(left,
                         fmt::format("expected a variable that tells the dtype of {}, got none",
                                     number->number));
      if (holder != WrittenRule::kResult) number->typed_as = static_cast<char>('a' + holder);
    }
  }

  Cursor cursor_;
  std::string_view origin_;
};

/// Throws unless the numbers of a formula fit their dtypes: integers exactly, floats after
/// rounding.
void check_numbers(const Formula& f, const WrittenRule& rule, const RuleDTypes& dtypes,
                   DType result) {
  for (const Formula& operand : f.operands) check_numbers(operand, rule, dtypes, result);
  if (f.kind != Formula::Kind::kNumber) return;
  DType dtype = f.boolean ? DType::kBool : result;
  if (f.typed_as) dtype = dtypes[static_cast<size_t>(rule.type_of[f.typed_as - 'a'])];
  bool fits = true;
  if (dtype == DType::kBool) {
    fits = f.number == 0 || f.number == 1;
  } else if (is_float(dtype)) {
    const double off = std::abs(f.value(dtype).as_double() - f.number);
    fits = !std::isfinite(f.number) || off <= std::abs(f.number) / 8;
  } else if (!(f.number == -1 && !is_signed(dtype))) {
    // A formula holds integers as doubles, so they must be exact at any width.
    fits = std::abs(f.number) <= 0x1p53 && std::trunc(f.number) == f.number &&
           f.value(dtype).as_double() == f.number;
  }
  TN_REQUIRE(fits, "[rules] expected a number of {}, got {}", dtype_name(dtype), f.number);
}

}  // namespace

std::vector<WrittenRule> parse_rules(std::string_view text, std::string_view origin) {
  return RuleParser(text, origin).all();
}

Graph side(const WrittenRule& rule, const Formula& formula, const RuleDTypes& dtypes, int64_t count,
           Builder& builder) {
  const auto dtype_at = [&](size_t part) {
    const int type = rule.type_of[part];
    return type == WrittenRule::kBoolOnly ? DType::kBool : dtypes[static_cast<size_t>(type)];
  };
  const Shape shape{Dim(count)};
  const DType result = dtype_at(WrittenRule::kResult);
  check_numbers(formula, rule, dtypes, result);
  Graph graph;
  graph.name = "rule";
  Bindings bound{};
  graph.params.reserve(rule.variables.size());
  for (const char variable : rule.variables) {
    const auto letter = static_cast<size_t>(variable - 'a');
    graph.params.push_back(builder.param(std::string(1, variable), dtype_at(letter), shape));
    bound[letter] = &graph.params.back();
  }
  graph.outputs = {build(formula, bound, result, shape, builder)};
  graph.output_names = {""};
  return graph;
}

Rule make_rule(WrittenRule written, const std::array<DTypeSet, 32>& others) {
  const auto rule = std::make_shared<const WrittenRule>(std::move(written));
  const auto apply = [rule, others](const NodeRef& node, Builder& builder) -> NodeRef {
    Bindings bound{};
    if (!match(rule->pattern, node, bound)) return nullptr;
    RuleDTypes dtypes{DType::kVoid, DType::kVoid};
    for (size_t i = 0; i < dtypes.size(); ++i) {
      const int holder = rule->holder[i];
      if (holder == WrittenRule::kResult)
        dtypes[i] = node->dtype;
      else if (holder >= 0)
        dtypes[i] = (*bound[static_cast<size_t>(holder)])->dtype;
    }
    if (!(others[static_cast<size_t>(dtypes[0])] & dtype_bit(dtypes[1]))) return nullptr;
    return build(rule->replacement, bound, node->dtype, node->shape, builder);
  };
  return {rule->name, {rule->pattern.op}, apply};
}

}  // namespace tenon::rewrite
