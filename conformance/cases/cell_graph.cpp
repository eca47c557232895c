// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds the graph of one layer 1 cell.
#include <algorithm>
#include <numeric>

#include "conformance/cases/cells.hpp"
#include "conformance/cases/domains.hpp"
#include "conformance/cases/shapes.hpp"

namespace tenon::conformance {
namespace {

constexpr int64_t kTaken[] = {1, 7, 33, 70}, kStored[] = {1, 5, 17, 40};

class CellBuilder {
 public:
  CellBuilder(const CellSpec& spec, Choices& choices, Builder& builder, bool exhaustive)
      : spec_(spec), choices_(choices), build_(builder), exhaustive_(exhaustive) {}

  Template build() {
    Template out;
    out.cell = describe(spec_);
    out.refusal = spec_.kind == CellKind::kRefusal;
    out.exhaustive = exhaustive_;
    std::vector<NodeRef> outputs = body();
    finish_graph(out, std::move(outputs), params_);
    return out;
  }

 private:
  std::vector<NodeRef> body() {
    switch (spec_.kind) {
      case CellKind::kElementwise:
        return {elementwise(draw_shape())};
      case CellKind::kRefusal:
        return {elementwise({Dim(64)})};
      case CellKind::kCast:
        return {build_.cast(operand(draw_shape(), 0), spec_.other)};
      case CellKind::kBitCast:
        return {build_.bit_cast(operand(draw_shape(), 0), spec_.other)};
      case CellKind::kView:
        return {view()};
      case CellKind::kReduce:
        return {reduce()};
      case CellKind::kTake:
        return {take()};
      case CellKind::kStore:
        return {store()};
      case CellKind::kIndex: {
        const Shape shape = draw_shape(1, 120);
        return {build_.index(static_cast<int>(choices_.below(shape.size())), shape, spec_.dtype)};
      }
      case CellKind::kConst:
        return {build_.constant({spec_.dtype, choices_.pick(lattice(spec_.dtype))}, draw_shape())};
      case CellKind::kParam: {
        const NodeRef x = param(spec_.dtype, draw_shape(), {});
        return {x, x};  // an input that is an output, twice
      }
      case CellKind::kIf:
        return {branch()};
      case CellKind::kLoop:
        return loop();
    }
    return {};
  }

  /// Static, or with one symbol that the cases of the block vary.
  Shape draw_shape(int least_rank = 0, int64_t budget = 0) {
    if (exhaustive_) {
      const auto codes = int64_t{1} << dtype_bits(spec_.dtype);
      return {Dim(codes)};
    }
    if (budget == 0) budget = choices_.chance(8) ? 6000 : 1200;
    constexpr int kRanks[] = {0, 1, 1, 2, 2, 2, 2, 2, 3, 3, 4};
    const int rank = std::max(choices_.pick(kRanks), least_rank);
    if (rank > 0 && choices_.chance(40)) {
      Shape shape = to_shape(draw_sizes(choices_, rank - 1, 24));
      const auto place = static_cast<int64_t>(choices_.below(shape.size() + 1));
      const int64_t rest = std::max<int64_t>(product(shape).value(), 1);
      shape.insert(shape.begin() + place, draw_symbol(choices_, "n", budget / rest));
      return shape;
    }
    return to_shape(draw_sizes(choices_, rank, budget));
  }

  NodeRef param(DType dtype, Shape shape, Domain domain) {
    domain.exhaustive = exhaustive_;
    params_.emplace_back(
        build_.param("x" + std::to_string(params_.size()), dtype, std::move(shape)), domain);
    return params_.back().first;
  }

  /// A param that reaches `shape` through the cell's layout.
  NodeRef lay_out(DType dtype, const Shape& shape, const Domain& domain) {
    const auto rank = static_cast<int>(shape.size());
    switch (rank == 0 && spec_.layout != Layout::kReshaped ? Layout::kContiguous : spec_.layout) {
      case Layout::kContiguous:
        return param(dtype, shape, domain);
      case Layout::kBroadcast: {
        Shape small = shape;
        small[choices_.below(small.size())] = Dim(1);
        return build_.expand(param(dtype, small, domain), shape);
      }
      case Layout::kPermuted: {
        const Shape reversed(shape.rbegin(), shape.rend());
        std::vector<int> axes(shape.size());
        for (int i = 0; i < rank; ++i) axes[static_cast<size_t>(i)] = rank - 1 - i;
        return build_.permute(param(dtype, reversed, domain), axes);
      }
      case Layout::kFlipped:
        return build_.flip(param(dtype, shape, domain), draw_axes(rank));
      case Layout::kShrunk: {
        Shape large;
        std::vector<std::pair<Dim, Dim>> ranges;
        for (const Dim& dim : shape) {
          const auto before = choices_.between(0, 3), after = choices_.between(0, 3);
          large.push_back(dim + Dim(before + after));
          ranges.emplace_back(Dim(before), dim + Dim(before));
        }
        return build_.shrink(param(dtype, large, domain), ranges);
      }
      case Layout::kPadded: {
        Shape small;
        std::vector<std::pair<Dim, Dim>> pairs;
        for (const Dim& dim : shape) {
          const int64_t room = dim.min();
          const auto before = choices_.between(0, std::min<int64_t>(room, 2));
          const auto after = choices_.between(0, std::min<int64_t>(room - before, 2));
          small.push_back(dim - Dim(before + after));
          pairs.emplace_back(Dim(before), Dim(after));
        }
        return build_.pad(param(dtype, small, domain), pairs, Scalar::of(dtype, 1));
      }
      case Layout::kReshaped:
        return build_.reshape(param(dtype, {product(shape)}, domain), shape);
    }
    return nullptr;
  }

  std::vector<int> draw_axes(int rank) {
    std::vector<int> axes;
    for (int i = 0; i < rank; ++i)
      if (choices_.chance(50)) axes.push_back(i);
    if (axes.empty() && rank > 0) axes.push_back(rank - 1);
    return axes;
  }

  NodeRef operand(const Shape& shape, int position) {
    const Domain domain = operand_domain(spec_.op, spec_.dtype, position);
    // The other operands are mostly plain, so that layouts meet each other.
    if (position == 0 || choices_.chance(30)) return lay_out(spec_.dtype, shape, domain);
    return param(spec_.dtype, shape, domain);
  }

  NodeRef elementwise(const Shape& shape) {
    const int arity = op_info(spec_.op).arity;
    if (exhaustive_ && arity == 2) {  // all pairs
      const Shape square{shape[0], shape[0]};
      return build_.binary(spec_.op,
                           build_.expand(param(spec_.dtype, {shape[0], Dim(1)}, {}), square),
                           build_.expand(param(spec_.dtype, {Dim(1), shape[0]}, {}), square));
    }
    if (spec_.op == Op::WHERE) {
      const NodeRef condition = param(DType::kBool, shape, {});
      const NodeRef a = operand(shape, 0);
      return build_.where(condition, a, operand(shape, 1));
    }
    std::vector<NodeRef> operands;
    for (int i = 0; i < arity; ++i) operands.push_back(operand(shape, i));
    if (arity == 1) return build_.unary(spec_.op, operands[0]);
    if (arity == 2) return build_.binary(spec_.op, operands[0], operands[1]);
    return build_.fma(operands[0], operands[1], operands[2]);
  }

  NodeRef view() {
    const Shape shape = draw_shape(1);
    CellSpec as_layout = spec_;
    switch (static_cast<ViewKind>(spec_.variant)) {
      case ViewKind::kReshape:
        as_layout.layout = Layout::kReshaped;
        break;
      case ViewKind::kExpand:
        as_layout.layout = Layout::kBroadcast;
        break;
      case ViewKind::kPermute:
        as_layout.layout = Layout::kPermuted;
        break;
      case ViewKind::kPad:
        as_layout.layout = Layout::kPadded;
        break;
      case ViewKind::kShrink:
        as_layout.layout = Layout::kShrunk;
        break;
      case ViewKind::kFlip:
        as_layout.layout = Layout::kFlipped;
        break;
    }
    std::swap(spec_.layout, as_layout.layout);
    const NodeRef result = lay_out(spec_.dtype, shape, {});
    std::swap(spec_.layout, as_layout.layout);
    return result;
  }

  NodeRef reduce() {
    const Shape shape = draw_shape(3);
    const auto rank = static_cast<int>(shape.size());
    std::vector<int> axes;
    switch (spec_.variant) {
      case 0:
        axes = {rank - 1};
        break;
      case 1:
        axes = {0};
        break;
      case 2:
        axes = {1};
        break;
      case 3:
        axes = {0, rank - 1};
        break;
      default:
        axes.resize(static_cast<size_t>(rank));
        std::iota(axes.begin(), axes.end(), 0);
    }
    const NodeRef x = lay_out(spec_.dtype, shape, term_domain(spec_.op, spec_.dtype));
    // In eight bits a long sum says nothing.
    const bool wide = is_small_float(spec_.dtype) && (spec_.op == Op::ADD || spec_.op == Op::MUL);
    return build_.reduce(spec_.op, x, axes, wide ? DType::kF32 : DType::kVoid);
  }

  NodeRef take() {
    const std::vector<int64_t> sizes = draw_sizes(choices_, choices_.chance(50) ? 1 : 2, 1200);
    const size_t axis = choices_.below(sizes.size());
    std::vector<int64_t> positions = sizes;
    positions[axis] = choices_.pick(kTaken);
    const NodeRef x = param(spec_.dtype, to_shape(sizes), {});
    const NodeRef index = param(spec_.other, to_shape(positions), index_domain(sizes[axis]));
    return build_.take(x, index, static_cast<int>(axis));
  }

  NodeRef store() {
    const std::vector<int64_t> sizes = draw_sizes(choices_, choices_.chance(50) ? 1 : 2, 600);
    const size_t axis = choices_.below(sizes.size());
    std::vector<int64_t> positions = sizes;
    positions[axis] = choices_.pick(kStored);
    const NodeRef x = param(spec_.dtype, to_shape(sizes), {});
    const NodeRef index = param(spec_.other, to_shape(positions), index_domain(sizes[axis]));
    const NodeRef values =
        param(spec_.dtype, to_shape(positions), term_domain(Op::ADD, spec_.dtype));
    return build_.store(x, index, values, static_cast<int>(axis),
                        static_cast<StoreMode>(spec_.variant));
  }

  /// A region: a function of one tensor.
  GraphRef region(const char* name, std::vector<NodeRef> params, std::vector<NodeRef> outputs) {
    Graph graph;
    graph.name = name;
    graph.params = std::move(params);
    graph.output_names.assign(outputs.size(), "");
    graph.outputs = std::move(outputs);
    return std::make_shared<const Graph>(std::move(graph));
  }

  NodeRef branch() {
    const Shape shape = to_shape(draw_sizes(choices_, 2, 200));
    const NodeRef condition = param(DType::kBool, {}, {});
    const NodeRef x = param(spec_.dtype, shape, {});
    const NodeRef a = build_.param("a", spec_.dtype, shape);
    const NodeRef one = build_.constant(Scalar::of(spec_.dtype, 1), shape);
    return build_.if_(condition, {x}, region("yes", {a}, {build_.binary(Op::ADD, a, one)}),
                      region("no", {a}, {build_.binary(Op::MAX, a, one)}), 0);
  }

  std::vector<NodeRef> loop() {
    const Shape shape = to_shape(draw_sizes(choices_, 1, 100));
    const NodeRef trips = param(DType::kI64, {}, {.low = 0, .high = 5, .bounded = true});
    const NodeRef x = param(spec_.dtype, shape, {});
    const NodeRef step = param(spec_.dtype, shape, {});
    const NodeRef i = build_.param("i", DType::kI64, {});
    const NodeRef carried = build_.param("c", spec_.dtype, shape);
    const NodeRef captured = build_.param("s", spec_.dtype, shape);
    std::vector<NodeRef> results{build_.binary(Op::MAX, carried, captured)};
    if (spec_.dtype != DType::kBool) results[0] = build_.binary(Op::ADD, carried, captured);
    if (spec_.variant) {
      const NodeRef limit = build_.constant(Scalar::of_int(DType::kI64, 3));
      results.insert(results.begin(), build_.binary(Op::CMPLT, i, limit));
    }
    return {build_.loop(trips, {x}, {step}, region("body", {i, carried, captured}, results),
                        spec_.variant != 0, 0)};
  }

  CellSpec spec_;
  Choices& choices_;
  Builder& build_;
  bool exhaustive_;
  std::vector<std::pair<NodeRef, Domain>> params_;
};

}  // namespace

Template build_cell(const CellSpec& spec, Choices& choices, Builder& builder, bool exhaustive) {
  return CellBuilder(spec, choices, builder, exhaustive).build();
}

}  // namespace tenon::conformance
