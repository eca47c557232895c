// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pool, coercions and repairs of layer 2.
#include "conformance/cases/graphs/grower.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "conformance/cases/dtype_pool.hpp"
#include "conformance/cases/graphs/boundary_values.hpp"
#include "conformance/cases/graphs/shapes.hpp"
#include "conformance/cases/template_spec.hpp"
#include "core/ir/narrow_float.hpp"

namespace tenon::conformance::graphs {
namespace {

const std::vector<DType>& main_floats() {
  using enum DType;
  static const auto pool = dtype_pool({kF32, kF32, kF32, kF32, kF64}, [](DType dtype) {
    return is_float(dtype) && !is_small_float(dtype);
  });
  return pool;
}

const std::vector<DType>& main_ints() {
  using enum DType;
  static const auto pool = dtype_pool({kI32, kI32, kI64}, is_int);
  return pool;
}

}  // namespace

double Entry::magnitude() const { return std::max(std::abs(low), std::abs(high)); }

Grower::Grower(Choices& choices, Builder& builder, uint32_t flags)
    : choices_(choices), build_(builder) {
  {
    const Choices::Scope scope(choices_, Part::kDType);
    main_float_ = choices_.pick(main_floats());
    main_int_ = choices_.pick(main_ints());
  }
  constexpr int kRanks[] = {1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 0};
  const int rank = choices_.pick(kRanks);
  const int64_t budget = choices_.chance(8) ? kBudget : 1200;
  int symbols = choices_.chance(35) ? std::min(rank, 1) : 0;
  if (symbols && rank > 1 && choices_.chance(40)) symbols = 2;
  const int64_t beside[] = {budget, 40, 1};
  const std::vector<int64_t> sizes = flags & kTailed
                                         ? draw_tailed_sizes(choices_, rank)
                                         : draw_sizes(choices_, rank - symbols, beside[symbols]);
  for (const int64_t size : sizes) sizes_.emplace_back(size);
  for (int i = 0; i < symbols && !(flags & kTailed); ++i) {
    int64_t rest = symbols - i == 2 ? 32 : 1;  // room for the second one
    for (const Dim& dim : sizes_) rest *= std::max<int64_t>(dim.max(), 1);
    const auto place = static_cast<int64_t>(choices_.below(sizes_.size() + 1));
    sizes_.insert(sizes_.begin() + place,
                  draw_symbol(choices_, i ? "m" : "n", std::max<int64_t>(budget / rest, 1)));
  }
}

bool Grower::fits(const Shape& shape) const {
  double count = 1;
  for (const Dim& dim : shape) count *= static_cast<double>(dim.max());
  return count <= static_cast<double>(kBudget) && shape.size() <= 5;
}

Entry Grower::param(DType dtype, const Shape& shape) {
  Domain domain{.low = -4, .high = 4};
  if (is_int(dtype)) domain = {.low = -20, .high = 20};
  if (dtype == DType::kBool) domain = {.low = 0, .high = 1};
  return param(dtype, shape, domain);
}

Entry Grower::param(DType dtype, const Shape& shape, const Domain& domain) {
  const NodeRef node = build_.param("x" + std::to_string(params_.size()), dtype, shape);
  params_.emplace_back(node, domain);
  return {node, is_signed(dtype) ? domain.low : std::max(domain.low, 0.0), domain.high};
}

Entry Grower::constant(DType dtype, double value, const Shape& shape) {
  const Scalar scalar = Scalar::of(dtype, value);
  return {build_.constant(scalar, shape), scalar.as_double(), scalar.as_double()};
}

Entry Grower::draw_constant(DType dtype, const Shape& shape) {
  constexpr double kFew[] = {1, 0, -0.0, 2, -1, 0.5, 1.5, -3, 7, 100};
  const Choices::Scope scope(choices_, Part::kOther);
  Scalar value = Scalar::of(dtype, choices_.pick(kFew));
  if (choices_.chance(12)) value = {dtype, choices_.pick(core_values(dtype))};
  const double number = value.as_double();
  if (std::isnan(number)) return {build_.constant(value, shape), 0, 0};
  const double least = std::max(number, -comfort(dtype)), most = std::min(number, comfort(dtype));
  return {build_.constant(value, shape), std::min(least, most), std::max(least, most)};
}

void Grower::replace(const NodeRef& param, const NodeRef& node) {
  std::map<const Node*, NodeRef> done{{param.get(), node}};
  for (Entry& entry : pool_) {
    for (const NodeRef& old : topological({entry.node})) {
      if (done.contains(old.get())) continue;
      std::vector<NodeRef> sources;
      for (const NodeRef& source : old->sources) sources.push_back(done.at(source.get()));
      const bool same = sources == old->sources;
      done[old.get()] =
          same ? old : build_.make(old->op, old->dtype, old->shape, std::move(sources), old->attr);
    }
    entry.node = done.at(entry.node.get());
  }
}

Shape Grower::draw_shape() {
  const Choices::Scope scope(choices_, Part::kDimension);
  Shape shape = sizes_;
  for (Dim& dim : shape)
    if (choices_.chance(15)) dim = Dim(1);
  while (!shape.empty() && choices_.chance(10)) shape.erase(shape.begin());
  return shape;
}

Dim Grower::draw_dim() { return sizes_.empty() ? Dim(3) : choices_.pick(sizes_); }

Entry Grower::any() {
  if (pool_.empty() || choices_.chance(12)) {
    const uint64_t kind = choices_.below(10);
    const DType dtype = kind < 7   ? main_float_
                        : kind < 9 ? main_int_
                                   : all_dtypes()[choices_.below(all_dtypes().size())];
    return param(dtype, draw_shape());
  }
  // The larger of two draws: chains grow, and older nodes still get second uses.
  return pool_[std::max(choices_.below(pool_.size()), choices_.below(pool_.size()))];
}

Entry Grower::any_float() {
  for (int i = 0; i < 4; ++i) {
    Entry entry = any();
    if (is_float(entry.node->dtype) && !is_small_float(entry.node->dtype)) return entry;
  }
  return param(main_float_, draw_shape());
}

Entry Grower::any_int() {
  for (int i = 0; i < 4; ++i) {
    Entry entry = any();
    if (is_int(entry.node->dtype)) return entry;
  }
  return param(main_int_, draw_shape());
}

Entry Grower::any_bool(const Shape& shape) {
  for (int i = 0; i < 3; ++i) {
    const Entry entry = any();
    if (entry.node->dtype == DType::kBool) return to_shape(entry, shape);
  }
  return param(DType::kBool, shape);
}

Entry Grower::to_dtype(const Entry& x, DType dtype) {
  if (x.node->dtype == dtype) return x;
  Entry from = is_float(dtype) ? scaled(x, comfort(dtype)) : x;
  Entry out{build_.cast(from.node, dtype), from.low, from.high};
  if (!is_float(dtype)) {
    out.low = std::clamp(out.low, lowest(dtype).as_double(), highest(dtype).as_double());
    out.high = std::clamp(out.high, lowest(dtype).as_double(), highest(dtype).as_double());
    // A cast between integers wraps: anything may come of it.
    if (is_int(x.node->dtype) && (out.low != from.low || out.high != from.high)) {
      out.low = lowest(dtype).as_double();
      out.high = highest(dtype).as_double();
    }
  }
  return out;
}

Entry Grower::to_shape(const Entry& x, const Shape& shape) {
  const Shape& from = x.node->shape;
  if (same_shape(from, shape)) return x;
  Entry out = x;
  if (from.size() <= shape.size()) {
    Shape padded(shape.size() - from.size(), Dim(1));
    padded.insert(padded.end(), from.begin(), from.end());
    bool grows = true;
    for (size_t i = 0; i < shape.size(); ++i)
      grows = grows && (padded[i].is_const(1) || padded[i] == shape[i]);
    if (grows) {
      if (padded.size() != from.size()) out.node = build_.reshape(out.node, padded);
      out.node = build_.expand(out.node, shape);
      return out;
    }
  }
  if (product(from) == product(shape)) {
    out.node = build_.reshape(x.node, shape);
    return out;
  }
  return param(x.node->dtype, shape);
}

Entry Grower::scaled(const Entry& x, double limit) {
  if (x.magnitude() <= limit) return x;
  const DType dtype = x.node->dtype;
  if (!is_float(dtype)) return x;
  const double scale = std::exp2(std::floor(std::log2(limit / x.magnitude())));
  const Entry factor = constant(dtype, scale, x.node->shape);
  return {build_.binary(Op::MUL, x.node, factor.node), x.low * scale, x.high * scale};
}

Entry Grower::positive(const Entry& x) {
  if (x.low >= 0.0625) return x;
  const Entry small = scaled(x, 16);
  const NodeRef square = build_.binary(Op::MUL, small.node, small.node);
  const Entry quarter = constant(x.node->dtype, 0.25, x.node->shape);
  return {build_.binary(Op::ADD, square, quarter.node), 0.25,
          small.magnitude() * small.magnitude() + 0.25};
}

double Grower::comfort(DType dtype) {
  if (is_small_float(dtype)) return highest(dtype).as_double() < 1000 ? 64 : 256;
  return is_float(dtype) && float_format(dtype).bias < 16 ? 2000 : 20000;
}

}  // namespace tenon::conformance::graphs
