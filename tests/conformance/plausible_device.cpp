// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/conformance/plausible_device.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tenon::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Format {
  int precision, min_exponent;
};

Format format(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return {53, -1022};
    case DType::kF32:
      return {24, -126};
    case DType::kF16:
      return {11, -14};
    case DType::kBF16:
      return {8, -126};
    case DType::kF8E4M3:
      return {4, -6};
    default:
      return {3, -14};
  }
}

double unit(double y, DType dtype) {
  const Format f = format(dtype);
  const int exponent = y == 0 ? f.min_exponent : std::max(std::ilogb(y), f.min_exponent);
  return std::ldexp(1, exponent - f.precision + 1);
}

/// How far a function may be off, in the profile's words; the second number is absolute.
std::pair<double, double> bound(Op op, DType dtype, double x, double y, bool strict) {
  const bool half = dtype == DType::kF16;
  const double size = std::abs(x);
  const bool near_one = x >= 0.5 && x <= 2;
  switch (op) {
    case Op::EXP2:
    case Op::EXP:
      if (strict) return {half ? 2 : 3, 0};
      return {(half ? 1 : 3) + 2 * size, 0};
    case Op::LOG2:
    case Op::LN:
      if (strict || !near_one) return {strict && half ? 2 : 3, 0};
      return {0, std::ldexp(0.99, half ? -7 : -21)};
    case Op::SIN:
    case Op::COS:
      if (strict) return {half ? 2 : 4, 0};
      if (size <= static_cast<float>(std::numbers::pi)) return {0, std::ldexp(1, half ? -7 : -11)};
      return {0, 2};  // clamped below: any sine
    case Op::RECIP:
    case Op::FDIV: {
      const double divisor = std::abs(op == Op::RECIP ? x : y);
      const double least = std::ldexp(1, format(dtype).min_exponent);
      return {strict || divisor < least || divisor > 1 / least ? 0 : 2.5, 0};
    }
    default:
      return {0, 0};
  }
}

bool is_function(Op op) {
  switch (op) {
    case Op::EXP2:
    case Op::EXP:
    case Op::LOG2:
    case Op::LN:
    case Op::SIN:
    case Op::COS:
    case Op::RECIP:
    case Op::FDIV:
    case Op::SQRT:
      return true;
    default:
      return false;
  }
}

bool keeps(Op op) {
  return op == Op::MAX || op == Op::MIN || op == Op::NEG || op == Op::TRUNC || op == Op::FLOOR;
}

}  // namespace

bool PlausibleDevice::lost(double x) const {
  return (std::isnan(x) && (profile_.numerics & kNoNan)) ||
         (std::isinf(x) && (profile_.numerics & kNoInf));
}

double PlausibleDevice::garbage() {
  constexpr double kAny[] = {0, 1, -3.5, 1e30, -1e-40, kInf, -kInf};
  return random_.chance(20) ? std::nan("") : random_.pick(std::vector(kAny, kAny + 7));
}

double PlausibleDevice::lose_subnormal(double x, DType dtype) {
  if (x == 0 || !(std::abs(x) < std::ldexp(1, format(dtype).min_exponent))) return x;
  return random_.chance(80) ? std::copysign(0.0, x) : 0.0;
}

double PlausibleDevice::read(double x, DType dtype) {
  if (may(kFlushInput)) x = lose_subnormal(x, dtype);
  if (x == 0 && may(kNoSignedZero)) x = -x;
  return x;
}

Scalar PlausibleDevice::write(double exact, DType dtype) {
  double y = Scalar::of(dtype, exact).as_double();
  if (may(kFlushOutput)) y = lose_subnormal(y, dtype);
  if (y == 0 && may(kNoSignedZero)) y = -y;
  return Scalar::of(dtype, y);
}

/// bf16 by way of f32, cut or rounded, or further off.
Scalar PlausibleDevice::round_short(Op op, double exact, DType dtype) {
  const double single = static_cast<float>(exact);
  const bool fits = Scalar::of(DType::kBF16, single).as_double() == single;
  if (dtype != DType::kBF16 || keeps(op) || !std::isfinite(single) || fits)
    return write(exact, dtype);
  const double step = unit(single, dtype);
  double y = std::floor(single / step) * step + (random_.chance(50) ? step : 0);
  if (!profile_.strict && random_.chance(30)) y += y > single ? step : -step;
  if (op == Op::EXP2 || op == Op::EXP) y = std::max(y, 0.0);
  return write(std::copysign(y, y == 0 ? single : y), dtype);
}

Scalar PlausibleDevice::compute(Op op, DType dtype, const double* x) {
  const DType first = dtype == DType::kBF16 ? DType::kF32 : dtype;
  double a = x[0], b = x[1];
  if (op == Op::FMA && !profile_.strict && random_.chance(50)) {
    const double product[] = {a, b, 0};
    const double sum[] = {compute(Op::MUL, dtype, product).as_double(), x[2], 0};
    return compute(Op::ADD, dtype, sum);
  }
  double y = op == Op::NEG ? -a : float_op(op, first, a, b, x[2]);
  if (std::isfinite(y) && y != 0 && is_function(op)) {
    // Now and then as far off as can be.
    const double share =
        random_.chance(40) ? (random_.chance(50) ? 1 : -1) : 2 * random_.unit() - 1;
    if (op == Op::SQRT && !profile_.strict && a > 0) {
      const double inverse = 1 / y + share * 2 * unit(1 / y, first);
      y = 1 / inverse + share * 2.5 * unit(1 / inverse, first) * (random_.chance(50) ? 1 : -1);
    } else {
      const auto [units, absolute] = bound(op, first, a, b, profile_.strict);
      const bool wave = op == Op::SIN || op == Op::COS;
      y += share * (absolute > 0 ? absolute : units * unit(y, first));
      if (wave && absolute > 1) y = std::clamp(y, -1.0, 1.0);
      if (op == Op::EXP2 || op == Op::EXP) y = std::max(y, 0.0);
    }
  }
  return round_short(op, y, dtype);
}

Array PlausibleDevice::elementwise(const Node& node, const Operands& in) {
  const DType from = in[node.op == Op::WHERE ? 1 : 0]->dtype;
  const bool flips = node.op == Op::NEG && profile_.numerics == 0;
  if (node.op == Op::WHERE || !is_float(from) || flips) return evaluate_node(node, in, {});
  Array out = Array::zeros(node.dtype, in[0]->shape);
  // x*y + z in one rounding where the profile says so.
  const bool sums = node.op == Op::ADD || node.op == Op::SUB;
  const Operands* fused = nullptr;
  size_t side = 0;
  for (; sums && side < 2 && !fused; ++side) fused = product(node.sources[side]);
  const bool contracts = fused && may(kContract);
  for (int64_t i = 0; i < out.count(); ++i) {
    double x[3] = {};
    bool any = false;
    for (size_t k = 0; k < in.size(); ++k) {
      x[k] = in[k]->at(i).as_double();
      any |= lost(x[k]);
      x[k] = read(x[k], from);
    }
    if (op_info(node.op).kind == OpKind::COMPARE) {
      const bool truth = any ? random_.chance(50) : float_compare(node.op, x[0], x[1]);
      out.set(i, {DType::kBool, truth});
      continue;
    }
    Scalar y = any ? Scalar::of(node.dtype, garbage()) : compute(node.op, node.dtype, x);
    if (contracts && !any && node.dtype != DType::kBF16) {
      const double p = read((*fused)[0]->at(i).as_double(), from);
      const double q = read((*fused)[1]->at(i).as_double(), from);
      const bool minus_product = node.op == Op::SUB && side == 2;
      const double z = x[2 - side];
      const double other = node.op == Op::SUB && side == 1 ? -z : z;
      y = write(float_op(Op::FMA, node.dtype, minus_product ? -p : p, q, other), node.dtype);
    }
    if (lost(y.as_double()) && std::isinf(y.as_double())) y = Scalar::of(node.dtype, garbage());
    out.set(i, y);
  }
  return out;
}

Array PlausibleDevice::cast(const Node& node, const Array& x) {
  if (node.as<CastAttr>().bits || !is_float(x.dtype)) return evaluate_node(node, {&x}, {});
  Array out = Array::zeros(node.dtype, x.shape);
  for (int64_t i = 0; i < out.count(); ++i) {
    const double value = x.at(i).as_double();
    Scalar y = tenon::cast(Scalar::of(x.dtype, read(value, x.dtype)), node.dtype);
    if (is_float(node.dtype)) y = write(y.as_double(), node.dtype);
    const bool any = lost(value) || (is_float(node.dtype) && lost(y.as_double()));
    out.set(i, any ? tenon::cast(Scalar::of(DType::kF64, garbage()), node.dtype) : y);
  }
  return out;
}

Scalar PlausibleDevice::combine(Op op, DType dtype, const Scalar& a, const Scalar& b) {
  if (!is_float(dtype)) return evaluate_scalar(op, dtype, std::vector{a, b});
  const double x = a.as_double(), y = b.as_double();
  if (lost(x) || lost(y)) return Scalar::of(dtype, garbage());
  const Scalar z = write(float_op(op, dtype, read(x, dtype), read(y, dtype), 0), dtype);
  return std::isinf(z.as_double()) && lost(z.as_double()) ? Scalar::of(dtype, garbage()) : z;
}

Array PlausibleDevice::reduce(const Node& node, const Array& x) {
  const auto& attr = node.as<ReduceAttr>();
  const DType type = attr.accumulator == DType::kVoid ? node.dtype : attr.accumulator;
  // Terms of each result, as flat positions, by reducing positions one by one.
  std::vector<int64_t> shape = x.shape;
  for (const int axis : attr.axes) shape[axis] = 1;
  Array out = Array::zeros(node.dtype, shape);
  std::vector<std::vector<int64_t>> terms(static_cast<size_t>(out.count()));
  for (int64_t i = 0; i < x.count() && out.count() > 0; ++i) {
    int64_t rest = i, to = 0, stride = 1;
    for (size_t k = x.shape.size(); k-- > 0;) {
      if (shape[k] != 1) to += rest % x.shape[k] * stride;
      rest /= x.shape[k];
      stride *= shape[k];
    }
    terms[static_cast<size_t>(to)].push_back(i);
  }
  const Operands* fused =
      attr.op == Op::ADD && type == x.dtype ? product(node.sources[0]) : nullptr;
  for (size_t r = 0; r < terms.size(); ++r) {
    if (terms[r].empty()) return evaluate_node(node, {&x}, {});
    std::vector<Scalar> parts;
    if (fused && random_.chance(70)) {
      // One accumulator after another, each product added in one rounding.
      Scalar sum = zero(type);
      bool any = false;
      for (const int64_t i : terms[r]) {
        const double p = (*fused)[0]->at(i).as_double(), q = (*fused)[1]->at(i).as_double();
        any |= lost(p) || lost(q) || lost(sum.as_double());
        sum = write(float_op(Op::FMA, type, read(p, type), read(q, type), sum.as_double()), type);
        if (random_.chance(5)) parts.push_back(std::exchange(sum, zero(type)));
      }
      parts.push_back(any || lost(sum.as_double()) ? Scalar::of(type, garbage()) : sum);
    } else {
      for (const int64_t i : terms[r]) parts.push_back(tenon::cast(x.at(i), type));
      if (attr.op == Op::ADD && random_.chance(50)) parts.push_back(zero(type));
    }
    while (parts.size() > 1) {
      const size_t a = random_.below(parts.size());
      std::swap(parts[a], parts.back());
      const Scalar last = parts.back();
      parts.pop_back();
      Scalar& other = parts[random_.chance(30) ? 0 : random_.below(parts.size())];
      other = combine(attr.op, type, other, last);
    }
    Scalar y = tenon::cast(parts[0], node.dtype);
    out.set(static_cast<int64_t>(r), y);
  }
  return out;
}

const PlausibleDevice::Operands* PlausibleDevice::product(const NodeRef& node) const {
  const auto at = operands_.find(node.get());
  return node->op == Op::MUL && is_float(node->dtype) && at != operands_.end() ? &at->second
                                                                               : nullptr;
}

Array PlausibleDevice::node(const Node& node, const Operands& operands,
                            const SymbolValues& symbols) {
  if (node.op == Op::CAST) return cast(node, *operands[0]);
  if (node.op == Op::REDUCE) return reduce(node, *operands[0]);
  if (is_elementwise(node.op)) return elementwise(node, operands);
  return evaluate_node(node, operands, symbols);
}

std::vector<Array> PlausibleDevice::run(const Graph& graph, const std::vector<Array>& inputs,
                                        const SymbolValues& symbols) {
  values_.clear();
  operands_.clear();
  for (size_t i = 0; i < inputs.size(); ++i) values_[graph.params[i].get()] = inputs[i];
  for (const NodeRef& ref : topological(graph.outputs)) {
    if (values_.contains(ref.get())) continue;
    Operands operands;
    for (const NodeRef& source : ref->sources) operands.push_back(&values_.at(source.get()));
    values_[ref.get()] = node(*ref, operands, symbols);
    operands_[ref.get()] = std::move(operands);
  }
  std::vector<Array> outputs;
  for (const NodeRef& output : graph.outputs) outputs.push_back(values_.at(output.get()));
  return outputs;
}

}  // namespace tenon::conformance
