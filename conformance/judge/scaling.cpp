// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The relation f(2^k x) = 2^(kd) f(x), to the bit where f is made of ops that round alike at every
// magnitude.
#include <cmath>
#include <optional>
#include <unordered_map>

#include "conformance/cases/random.hpp"
#include "conformance/judge/metamorphic.hpp"

namespace tenon::conformance {
namespace {

/// Far from overflow and subnormals, also of products of two and sums of thousands.
constexpr double kSmallest = 0x1p-30, kLargest = 0x1p30;
constexpr int kMostDegree = 2;

/// The d of f(s x) = s^d f(x); `zero` fits every degree.
struct Degree {
  int value = 0;
  bool zero = false;
};

std::optional<Degree> common(const Degree& a, const Degree& b) {
  if (a.zero) return b;
  if (b.zero || a.value == b.value) return a;
  return std::nullopt;
}

class Degrees {
 public:
  std::optional<Degree> of(const Node& node) {
    std::vector<Degree> x;
    for (const NodeRef& source : node.sources) x.push_back(known_.at(source.get()));
    const std::optional<Degree> degree = rule(node, x);
    if (!degree || (!degree->zero && degree->value > kMostDegree)) return std::nullopt;
    // Narrow floats round differently near the ends of their range.
    if (degree->value > 0 && node.dtype != DType::kF32 && node.dtype != DType::kF64)
      return std::nullopt;
    known_[&node] = *degree;
    return degree;
  }

 private:
  static std::optional<Degree> rule(const Node& node, const std::vector<Degree>& x) {
    const bool fixed = [&] {
      for (const Degree& degree : x)
        if (!degree.zero && degree.value) return false;
      return true;
    }();
    switch (node.op) {
      case Op::PARAM:
        return Degree{is_float(node.dtype) ? 1 : 0, false};
      case Op::CONST:
        return Degree{0, node.as<ConstAttr>().value.bits == 0};
      case Op::NEG:
        return x[0];
      case Op::ADD:
      case Op::SUB:
      case Op::MAX:
      case Op::MIN:
        return common(x[0], x[1]);
      case Op::CMPLT:
      case Op::CMPNE:
        return common(x[0], x[1]) ? std::optional(Degree{}) : std::nullopt;
      case Op::MUL:
        return Degree{x[0].value + x[1].value, x[0].zero || x[1].zero};
      case Op::FMA:
        return common({x[0].value + x[1].value, x[0].zero || x[1].zero}, x[2]);
      case Op::WHERE:
        return common(x[1], x[2]);
      case Op::VIEW:
        if (node.as<ViewAttr>().kind == ViewKind::kPad && node.as<ViewAttr>().fill.bits != 0 &&
            !fixed)
          return std::nullopt;
        return x[0];
      case Op::REDUCE:
        if (node.as<ReduceAttr>().op == Op::MUL && !fixed) return std::nullopt;
        if (node.as<ReduceAttr>().accumulator != node.dtype && !fixed) return std::nullopt;
        return x[0];
      case Op::TAKE:
        return x[0];
      case Op::STORE:
        return common(x[0], x[2]);
      case Op::CAST:
        if (!fixed && (node.as<CastAttr>().bits || !is_float(node.dtype))) return std::nullopt;
        return x[0];
      case Op::IF:
      case Op::LOOP:
        return std::nullopt;
      default:
        return fixed ? std::optional(Degree{}) : std::nullopt;
    }
  }

  std::unordered_map<const Node*, Degree> known_;
};

bool is_moderate(const Array& array) {
  for (int64_t i = 0; i < array.count(); ++i) {
    const double x = std::abs(array.at(i).as_double());
    if (x != 0 && !(x >= kSmallest && x <= kLargest)) return false;
  }
  return true;
}

}  // namespace

std::optional<Scaling> draw_scaling(const Case& test, uint64_t seed) {
  Degrees degrees;
  bool any = false;
  for (const NodeRef& node : topological(test.graph.outputs)) {
    const auto degree = degrees.of(*node);
    if (!degree) return std::nullopt;
    any |= degree->value > 0;
  }
  if (!any) return std::nullopt;
  for (const Array& input : test.inputs)
    if (is_float(input.dtype) && !is_moderate(input)) return std::nullopt;
  Random random(seed);
  const int exponent = static_cast<int>(random.between(1, 12)) * (random.chance(50) ? 1 : -1);
  Scaling out;
  out.test = test;
  for (Array& input : out.test.inputs) {
    if (!is_float(input.dtype)) continue;
    for (int64_t i = 0; i < input.count(); ++i)
      input.set(i, Scalar::of(input.dtype, std::ldexp(input.at(i).as_double(), exponent)));
  }
  for (const NodeRef& output : test.graph.outputs)
    out.exponents.push_back(exponent * degrees.of(*output)->value);
  return out;
}

std::vector<Array> scaled(const std::vector<Array>& outputs, const std::vector<int>& exponents) {
  std::vector<Array> out = outputs;
  for (size_t k = 0; k < out.size(); ++k) {
    if (exponents[k] == 0) continue;
    for (int64_t i = 0; i < out[k].count(); ++i)
      out[k].set(i, Scalar::of(out[k].dtype, std::ldexp(out[k].at(i).as_double(), exponents[k])));
  }
  return out;
}

}  // namespace tenon::conformance
