// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The relation f(2^k x) = 2^(kd) f(x), to the bit where f is made of ops that round alike at every
// magnitude.
#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "conformance/cases/random.hpp"
#include "conformance/judge/metamorphic.hpp"

namespace tenon::conformance::judge {
namespace {

/// Of inputs and constants that are not zero.
constexpr double kSmallest = 0x1p-30, kLargest = 0x1p30;
constexpr int kMostDegree = 2, kMostExponent = 8;
constexpr int kUntold = 1 << 20;

/// The d of f(s x) = s^d f(x), and where the values lie: multiples of 2^-grain below 2^high. Sums
/// and roundings keep a grain, so nothing becomes subnormal as long as that is not.
struct Degree {
  int value = 0;
  bool zero = false;  ///< fits every degree
  int grain = kUntold, high = kUntold;
};

std::optional<Degree> joined(const Degree& a, const Degree& b, int more = 0) {
  if (!a.zero && !b.zero && a.value != b.value) return std::nullopt;
  if (a.zero) return b;
  if (b.zero) return a;
  return Degree{a.value, false, std::max(a.grain, b.grain), std::max(a.high, b.high) + more};
}

Degree multiplied(const Degree& a, const Degree& b) {
  return {a.value + b.value, a.zero || b.zero, a.grain + b.grain, a.high + b.high};
}

bool is_moderate(const Scalar& scalar) {
  const double x = std::abs(scalar.as_double());
  return x == 0 || (x >= kSmallest && x <= kLargest);
}

bool is_moderate(const Array& array) {
  for (int64_t i = 0; i < array.count(); ++i)
    if (!is_moderate(array.at(i))) return false;
  return true;
}

/// Of a moderate value.
Degree moderate(int degree, DType dtype) {
  return {degree, false, 30 + (dtype == DType::kF64 ? 52 : 23), 30};
}

/// Room for the values and for the scaling itself.
bool fits(const Degree& degree, DType dtype) {
  const int room = dtype == DType::kF64 ? 1000 : 125;
  const int scaling = degree.value * kMostExponent;
  return degree.grain + scaling <= room && degree.high + scaling <= room;
}

class Degrees {
 public:
  /// Nothing where the node is not homogeneous.
  std::optional<Degree> of(const Node& node) {
    std::vector<Degree> x;
    for (const NodeRef& source : node.sources) x.push_back(known_.at(source.get()));
    const std::optional<Degree> degree = rule(node, x);
    if (!degree) return std::nullopt;
    if (degree->value > 0 && !degree->zero) {
      // Narrow floats round differently near the ends of their range.
      if (node.dtype != DType::kF32 && node.dtype != DType::kF64) return std::nullopt;
      if (degree->value > kMostDegree || !fits(*degree, node.dtype)) return std::nullopt;
    }
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
        return is_float(node.dtype) ? moderate(1, node.dtype) : Degree{};
      case Op::CONST: {
        const Scalar& value = node.as<ConstAttr>().value;
        Degree degree = is_moderate(value) ? moderate(0, node.dtype) : Degree{};
        degree.zero = value.bits == 0;
        return degree;
      }
      case Op::NEG:
      case Op::TAKE:
        return x[0];
      case Op::ADD:
      case Op::SUB:
        return joined(x[0], x[1], 1);
      case Op::MAX:
      case Op::MIN:
        return joined(x[0], x[1]);
      case Op::CMPLT:
      case Op::CMPNE:
        return joined(x[0], x[1]) ? std::optional(Degree{}) : std::nullopt;
      case Op::MUL:
        return multiplied(x[0], x[1]);
      case Op::FMA:
        return joined(multiplied(x[0], x[1]), x[2], 1);
      case Op::WHERE:
        return joined(x[1], x[2]);
      case Op::VIEW: {
        const auto& view = node.as<ViewAttr>();
        const bool fills = view.kind == ViewKind::kPad && view.fill.bits != 0;
        return fills && !fixed ? std::nullopt : std::optional(fills ? Degree{} : x[0]);
      }
      case Op::REDUCE: {
        const auto& reduce = node.as<ReduceAttr>();
        if (fixed) return Degree{};
        if (reduce.op == Op::MUL || reduce.accumulator != node.dtype) return std::nullopt;
        return Degree{x[0].value, x[0].zero, x[0].grain, x[0].high + 20};
      }
      case Op::STORE:
        return joined(x[0], x[2], 20);
      case Op::CAST: {
        const DType from = node.sources[0]->dtype;
        if (fixed) return is_float(from) ? Degree{} : Degree{0, false, 0, 64};
        const bool is_value = is_float(node.dtype) && !node.as<CastAttr>().bits;
        return is_value ? std::optional(x[0]) : std::nullopt;
      }
      case Op::IF:
      case Op::LOOP:
        return std::nullopt;
      default:
        return fixed ? std::optional(Degree{}) : std::nullopt;
    }
  }

  std::unordered_map<const Node*, Degree> known_;
};

}  // namespace

std::optional<Scaling> draw_scaling(const Case& test, uint64_t seed) {
  Degrees degrees;
  bool any = false;
  for (const NodeRef& node : topological(test.graph.outputs)) {
    const auto degree = degrees.of(*node);
    if (!degree) return std::nullopt;
    any |= degree->value > 0 && !degree->zero;
  }
  if (!any) return std::nullopt;
  for (const Array& input : test.inputs)
    if (is_float(input.dtype) && !is_moderate(input)) return std::nullopt;
  Random random(seed);
  const int exponent =
      static_cast<int>(random.between(1, kMostExponent)) * (random.chance(50) ? 1 : -1);
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

}  // namespace tenon::conformance::judge
