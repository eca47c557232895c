// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts, from the shape that the op sees back to that of the input.
#include "conformance/cases/graphs/cell_operand.hpp"

#include <algorithm>

#include "conformance/cases/graphs/boundary_values.hpp"
#include "conformance/cases/template_spec.hpp"

namespace tenon::conformance::graphs {
namespace {

constexpr Layout kChained[] = {Layout::kPermuted, Layout::kFlipped,   Layout::kShrunk,
                               Layout::kPadded,   Layout::kBroadcast, Layout::kReshaped};

}  // namespace

Scalar negated(const Scalar& value) {
  if (value.dtype == DType::kBool) return {value.dtype, value.bits ^ 1};
  if (is_float(value.dtype))
    return {value.dtype, value.bits ^ (uint64_t{1} << (dtype_bits(value.dtype) - 1))};
  return Scalar::of_int(value.dtype, -value.as_int());
}

NodeRef OperandBuilder::param(DType dtype, Shape shape, Domain domain) {
  domain.exhaustive = (flags_ & kExhaustive) != 0;
  params_.emplace_back(build_.param("x" + std::to_string(params_.size()), dtype, std::move(shape)),
                       domain);
  return params_.back().first;
}

NodeRef OperandBuilder::lay_out(Layout layout, DType dtype, const Shape& shape,
                                const Domain& domain) {
  const Choices::Scope scope(choices_, Part::kLayout);
  const int further =
      layout != Layout::kContiguous && choices_.chance(12) ? 1 + choices_.chance(40) : 0;
  return lay_out(layout, dtype, shape, domain, further);
}

NodeRef OperandBuilder::chain(DType dtype, const Shape& shape, const Domain& domain) {
  const Choices::Scope scope(choices_, Part::kLayout);
  const int further = static_cast<int>(choices_.between(1, 3));
  return lay_out(choices_.pick(kChained), dtype, shape, domain, further);
}

NodeRef OperandBuilder::lay_out(Layout layout, DType dtype, const Shape& shape,
                                const Domain& domain, int depth) {
  const auto rank = static_cast<int>(shape.size());
  const auto below = [&](Shape inner) {
    if (depth == 0) return param(dtype, std::move(inner), domain);
    const Choices::Scope scope(choices_, Part::kLayout);
    return lay_out(choices_.pick(kChained), dtype, inner, domain, depth - 1);
  };
  switch (rank == 0 && layout != Layout::kReshaped ? Layout::kContiguous : layout) {
    case Layout::kContiguous:
      return below(shape);
    case Layout::kBroadcast: {
      Shape small = shape;
      small[choices_.below(small.size())] = Dim(1);
      return build_.expand(below(small), shape);
    }
    case Layout::kPermuted: {
      const std::vector<int> axes = draw_order(rank);
      Shape source(shape.size());
      for (size_t i = 0; i < axes.size(); ++i) source[static_cast<size_t>(axes[i])] = shape[i];
      return build_.permute(below(source), axes);
    }
    case Layout::kFlipped: {
      const std::vector<int> axes = draw_axes(rank);
      return build_.flip(below(shape), axes);
    }
    case Layout::kShrunk: {
      Shape large;
      std::vector<std::pair<Dim, Dim>> ranges;
      for (const Dim& dim : shape) {
        // Of huge tensors only the long axis.
        const int64_t most = flags_ & kBig && dim.max() < 1000 ? 0 : 3;
        const auto before = choices_.between(0, most), after = choices_.between(0, most);
        large.push_back(dim + Dim(before + after));
        ranges.emplace_back(Dim(before), dim + Dim(before));
      }
      return build_.shrink(below(large), ranges);
    }
    case Layout::kPadded: {
      Shape small;
      std::vector<std::pair<Dim, Dim>> pairs;
      for (const Dim& dim : shape) {
        const int64_t room = std::max<int64_t>(dim.min() - 1, 0);  // something is left inside
        const auto before = choices_.between(0, std::min<int64_t>(room, 2));
        const auto after = choices_.between(0, std::min<int64_t>(room - before, 2));
        small.push_back(dim - Dim(before + after));
        pairs.emplace_back(Dim(before), Dim(after));
      }
      Scalar fill = Scalar::of(dtype, 1);
      if (choices_.chance(60)) fill = draw_constant(dtype, domain);
      // One of the last kinds would make every sum over it NaN.
      if (domain.summed && !domain.one_sided) fill = Scalar::of(dtype, 1);
      return build_.pad(below(small), pairs, fill);
    }
    case Layout::kReshaped:
      return build_.reshape(below({product(shape)}), shape);
  }
  return nullptr;
}

/// The order in reverse; now and then another one.
std::vector<int> OperandBuilder::draw_order(int rank) {
  std::vector<int> axes(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) axes[static_cast<size_t>(i)] = rank - 1 - i;
  if (rank > 2 && choices_.chance(50))
    for (size_t i = 0; i + 1 < axes.size(); ++i)
      std::swap(axes[i], axes[i + choices_.below(axes.size() - i)]);
  return axes;
}

std::vector<int> OperandBuilder::draw_axes(int rank) {
  std::vector<int> axes;
  for (int i = 0; i < rank; ++i)
    if (choices_.chance(50)) axes.push_back(i);
  if (axes.empty() && rank > 0) axes.push_back(rank - 1);
  return axes;
}

Scalar OperandBuilder::draw_constant(DType dtype, const Domain& domain) {
  const Choices::Scope scope(choices_, Part::kOther);
  if (choices_.chance(30)) {  // zeros are what constants get merged and folded by
    const Scalar zero = tenon::zero(dtype);
    return flags_ & kOtherConstant ? negated(zero) : zero;
  }
  const bool edge = choices_.chance(30) && domain.edges && !domain.edges->empty();
  const auto& from = edge                  ? *domain.edges
                     : choices_.chance(60) ? core_values(dtype)
                                           : boundary_values(dtype);
  const Scalar value{dtype, choices_.pick(from)};
  return flags_ & kOtherConstant ? negated(value) : value;
}

}  // namespace tenon::conformance::graphs
