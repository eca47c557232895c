// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/check_rules.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/interval/interval.hpp"
#include "core/rewrite/rule_text.hpp"
#include "core/support/error.hpp"
#include "core/support/hash.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

using rewrite::RuleDTypes;
using rewrite::WrittenRule;

constexpr int64_t kDrawn = 1024;  ///< random draws, besides all pairs of extremes of two variables

void collect_numbers(const Formula& f, std::vector<double>& out) {
  if (f.kind == Formula::Kind::kNumber) out.push_back(f.number);
  for (const Formula& operand : f.operands) collect_numbers(operand, out);
}

/// Boundary values: zeros, ends of the range, NaN, and the numbers of the rule with their
/// neighbours.
std::vector<Scalar> extremes(DType dtype, const std::vector<double>& numbers) {
  if (dtype == DType::kBool) return {zero(dtype), one(dtype)};
  std::vector<Scalar> out;
  const auto add_with_neighbours = [&](const Scalar& s) {
    const uint64_t mask = dtype_bits(dtype) == 64 ? ~uint64_t{0} : (1ull << dtype_bits(dtype)) - 1;
    out.insert(out.end(), {s, {dtype, (s.bits + 1) & mask}, {dtype, (s.bits - 1) & mask}});
  };
  if (is_float(dtype)) {
    for (const double v : {0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -3.0, 7.25, 1e-3})
      out.push_back(Scalar::of(dtype, v));
    out.push_back({dtype, 1});  // the smallest subnormal
    out.push_back(Scalar::of(dtype, std::nan("")));
    add_with_neighbours(highest(dtype));
    add_with_neighbours(lowest(dtype));
    for (const double v : numbers) {
      add_with_neighbours(Scalar::of(dtype, v));
      add_with_neighbours(Scalar::of(dtype, -v));
    }
  } else {
    const auto bits = static_cast<int64_t>(dtype_bits(dtype));
    for (const int64_t v : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{-1},
                            int64_t{-2}, int64_t{-7}, bits - 1, bits, int64_t{1} << (bits / 2)})
      out.push_back(Scalar::of_int(dtype, v));
    add_with_neighbours(highest(dtype));
    add_with_neighbours(lowest(dtype));
    for (const double v : numbers)
      if (std::abs(v) <= 0x1p53)
        add_with_neighbours(Scalar::of_int(dtype, static_cast<int64_t>(v)));
  }
  return out;
}

Scalar drawn_scalar(DType dtype, uint64_t random) {
  const uint64_t bits = random >> (64 - dtype_bits(dtype));
  if (dtype == DType::kBool) return {dtype, random >> 63};
  if (!is_float(dtype)) return {dtype, random & 1 ? bits : bits % 16};
  return random & 1 ? Scalar{dtype, bits}
                    : Scalar::of(dtype, static_cast<double>(random >> 40) * 0x1p-20 - 8);
}

/// One array for each param: all combinations of extremes of up to two variables, then random
/// draws.
std::vector<Array> draw(const Graph& side, const std::vector<std::vector<Scalar>>& values,
                        int64_t combinations) {
  std::vector<Array> arrays;
  int64_t stride = 1;
  for (size_t p = 0; p < side.params.size(); ++p) {
    const DType dtype = side.params[p]->dtype;
    const auto size = static_cast<int64_t>(values[p].size());
    Array array = Array::zeros(dtype, {side.params[p]->shape[0].value()});
    for (int64_t i = 0; i < array.count(); ++i) {
      const uint64_t random = hash_mix(hash_mix(p, static_cast<uint64_t>(i)), 0x7e707);
      const bool extreme = i < combinations || random % 3 == 0;
      const int64_t at = i < combinations ? i / stride % size
                                          : static_cast<int64_t>((random >> 8) % values[p].size());
      array.set(i, extreme ? values[p][static_cast<size_t>(at)] : drawn_scalar(dtype, random));
    }
    arrays.push_back(std::move(array));
    stride *= size;
  }
  return arrays;
}

bool is_finite(const Scalar& s) { return std::isfinite(s.as_double()); }

std::string names(const RuleDTypes& dtypes) {
  std::vector<std::string_view> names;
  for (const DType dtype : dtypes)
    if (dtype != DType::kVoid) names.push_back(dtype_name(dtype));
  return names.empty() ? "bool" : fmt::format("{}", fmt::join(names, " and "));
}

class Check {
 public:
  Check(const WrittenRule& rule, const RuleDTypes& dtypes, Builder& builder)
      : rule_(rule), dtypes_(dtypes), builder_(builder) {}

  /// Whether both sides are legal at these dtypes; otherwise `why` gets the reason.
  bool fits(std::string& why) {
    try {
      left_ = rewrite::side(rule_, rule_.pattern, dtypes_, 1, builder_);
      rewrite::side(rule_, rule_.replacement, dtypes_, 1, builder_);
      return true;
    } catch (const Error& error) {
      why = error.what();
      return false;
    }
  }

  const Graph& left() const { return left_; }

  /// Throws unless each value of the right side lies in the interval of the left side. Both must be
  /// finite or both infinite, as the interval of an overflow holds finite numbers too.
  void check_values() {
    std::vector<double> numbers;
    collect_numbers(rule_.pattern, numbers);
    collect_numbers(rule_.replacement, numbers);
    std::vector<std::vector<Scalar>> values;
    int64_t combinations = left_.params.size() <= 2 ? 1 : 0;
    for (const NodeRef& param : left_.params) {
      values.push_back(extremes(param->dtype, numbers));
      combinations *= static_cast<int64_t>(values.back().size());
    }
    const int64_t count = combinations + kDrawn;
    const Graph left = rewrite::side(rule_, rule_.pattern, dtypes_, count, builder_);
    const Graph right = rewrite::side(rule_, rule_.replacement, dtypes_, count, builder_);
    const std::vector<Array> inputs = draw(left, values, combinations);
    const Profile profile = Profile::of(generic_capabilities());
    const IntervalArray expected = evaluate_intervals(left, inputs, {}, profile)[0];
    const Array got = evaluate(right, inputs)[0];
    for (int64_t i = 0; i < count; ++i)
      if (!accepts(expected, i, got.at(i), profile) ||
          is_finite(expected.value.at(i)) != is_finite(got.at(i)))
        differ(inputs, expected, got, i);
  }

 private:
  [[noreturn]] void differ(const std::vector<Array>& inputs, const IntervalArray& expected,
                           const Array& got, int64_t i) const {
    std::vector<std::string> with;
    for (size_t p = 0; p < inputs.size(); ++p)
      with.push_back(fmt::format("{} = {}", rule_.variables[p], to_string(inputs[p].at(i))));
    fail(ErrorKind::kInvalid,
         "[rules] {}: expected equal sides of '{}', got for {} with {}: left {}, right {} (a rule "
         "whose sides are only roughly equal says 'approximate')",
         rule_.place, rule_.name, names(dtypes_), fmt::join(with, ", "),
         to_string(expected.value.at(i)), to_string(got.at(i)));
  }

  const WrittenRule& rule_;
  const RuleDTypes dtypes_;
  Builder& builder_;
  Graph left_;
};

/// The dtypes to try for entry `place` of RuleDTypes; kVoid where the rule has no such values.
std::vector<DType> candidates(const WrittenRule& rule, size_t place) {
  if (rule.holder[place] < 0) {
    const bool own_is_bool = place == 0;
    if (own_is_bool && !(rule.types & dtype_bit(DType::kBool))) return {};
    return {DType::kVoid};
  }
  std::vector<DType> out;
  for (const DType dtype : all_dtypes())
    if (place != 0 || rule.types & dtype_bit(dtype)) out.push_back(dtype);
  return out;
}

/// Checks the rule at all its dtypes. `examples` gets a left side for each pair that it fits.
rewrite::Rule checked(const WrittenRule& rule, Builder& builder, std::vector<Graph>& examples) {
  std::array<DTypeSet, 32> others{};
  std::string why = "a rule of bool";
  const size_t before = examples.size();
  for (const DType own : candidates(rule, 0)) {
    for (const DType other : candidates(rule, 1)) {
      Check check(rule, {own, other}, builder);
      if (!check.fits(why)) continue;
      if (!rule.approximate) check.check_values();
      others[static_cast<size_t>(own)] |= dtype_bit(other);
      examples.push_back(check.left());
    }
  }
  if (examples.size() == before)
    fail(ErrorKind::kInvalid, "[rules] {}: expected a dtype that '{}' fits, got none: {}",
         rule.place, rule.name, why);
  if (rule.approximate)
    TN_LOG("rewrite", "{}: the sides of '{}' are not compared, as it is approximate", rule.place,
           rule.name);
  return rewrite::make_rule(rule, others);
}

}  // namespace

rewrite::Rules with_rules(const rewrite::Rules& known, std::string_view text,
                          std::string_view origin) {
  Builder builder;
  rewrite::Rules rules = known;
  std::vector<Graph> examples;
  for (const WrittenRule& rule : rewrite::parse_rules(text, origin)) {
    TN_REQUIRE(std::ranges::none_of(rules, [&](const auto& r) { return r.name == rule.name; }),
               "[rules] {}: expected a new name, got '{}' again", rule.place, rule.name);
    rules.push_back(checked(rule, builder, examples));
  }
  for (const Graph& example : examples) rewrite::run_bounded(example, rules, builder);
  return rules;
}

}  // namespace tenon
