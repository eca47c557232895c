// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds the graph of one layer 1 cell.
#include <algorithm>
#include <numeric>

#include "conformance/cases/graphs/boundary_values.hpp"
#include "conformance/cases/graphs/cell_operand.hpp"
#include "conformance/cases/graphs/cells.hpp"
#include "conformance/cases/graphs/domains.hpp"
#include "conformance/cases/graphs/regions.hpp"
#include "conformance/cases/graphs/shapes.hpp"

namespace tenon::conformance::graphs {
namespace {

constexpr int64_t kTaken[] = {1, 7, 33, 70}, kStored[] = {1, 5, 17, 40};

/// Says op(x, x) something?
bool likes_itself(Op op) {
  switch (op) {
    case Op::ADD:
    case Op::MUL:
    case Op::MAX:
    case Op::MIN:
    case Op::IDIV:
    case Op::FDIV:
    case Op::CMPEQ:
    case Op::AND:
    case Op::OR:
      return true;
    default:
      return false;
  }
}

class CellBuilder {
 public:
  CellBuilder(const CellSpec& spec, Choices& choices, Builder& builder, uint32_t flags)
      : spec_(spec),
        choices_(choices),
        build_(builder),
        flags_(flags),
        operands_(choices, builder, flags) {}

  Template build() {
    Template out;
    out.cell = describe(spec_);
    out.refusal = spec_.kind == CellKind::kRefusal;
    std::vector<NodeRef> outputs = body();
    if (!(flags_ & kExhaustive) && !out.refusal) add_outputs(outputs);
    finish_graph(out, std::move(outputs), operands_.params());
    return out;
  }

 private:
  std::vector<NodeRef> body() {
    switch (spec_.kind) {
      case CellKind::kElementwise:
        return elementwise(draw_shape());
      case CellKind::kRefusal:
        return {apply({operands_.param(spec_.dtype, {Dim(64)}, {}),
                       operands_.param(spec_.dtype, {Dim(64)}, {}),
                       operands_.param(spec_.dtype, {Dim(64)}, {})})};
      case CellKind::kCast:
        return cast();
      case CellKind::kBitCast:
        return {build_.bit_cast(operand(draw_shape(), 0), spec_.other)};
      case CellKind::kView:
        return {view()};
      case CellKind::kReduce:
        return {reduce()};
      case CellKind::kTake:
        return {take()};
      case CellKind::kStore:
        return store();
      case CellKind::kIndex: {
        const Shape shape = draw_shape(1, 120);
        auto axis = choices_.below(shape.size());
        for (size_t i = 0; shape[axis].is_const(1) && i < shape.size(); ++i) axis = i;
        return {build_.index(static_cast<int>(axis), shape, spec_.dtype)};
      }
      case CellKind::kConst: {
        const Shape shape = draw_shape();
        const Scalar value = operands_.draw_constant(spec_.dtype, {});
        return {build_.constant(value, shape), build_.constant(negated(value), shape),
                build_.constant(Scalar::of(spec_.dtype, 1), shape)};
      }
      case CellKind::kParam: {
        const NodeRef x = operands_.param(spec_.dtype, draw_shape(), {});
        return {x, x};  // an input that is an output, twice
      }
      case CellKind::kIf:
        return branch();
      case CellKind::kLoop:
        return loop();
    }
    return {};
  }

  /// Static, or with one symbol that the cases of the block vary.
  Shape draw_shape(int least_rank = 0, int64_t budget = 0) {
    if (flags_ & kExhaustive) {
      const auto codes = int64_t{1} << dtype_bits(spec_.dtype);
      return {Dim(codes)};
    }
    const Choices::Scope scope(choices_, Part::kOther);
    if (budget == 0) budget = choices_.chance(8) ? 6000 : 1200;
    constexpr int kRanks[] = {0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4};
    const int rank = std::max(choices_.pick(kRanks), least_rank);
    if (flags_ & kBig) {
      const int most = std::max({rank, least_rank, 1});
      const auto place = static_cast<int>(choices_.below(static_cast<uint64_t>(most)));
      return to_shape(draw_big_sizes(choices_, most, place));
    }
    if (flags_ & kTailed) return to_shape(draw_tailed_sizes(choices_, std::max(rank, 1)));
    if (rank > 0 && choices_.chance(40)) {
      Shape shape = to_shape(draw_sizes(choices_, rank - 1, 24));
      const auto place = static_cast<int64_t>(choices_.below(shape.size() + 1));
      const int64_t rest = std::max<int64_t>(product(shape).value(), 1);
      shape.insert(shape.begin() + place, draw_symbol(choices_, "n", budget / rest));
      return shape;
    }
    return to_shape(draw_sizes(choices_, rank, budget));
  }

  NodeRef operand(const Shape& shape, int position) {
    const Domain domain = operand_domain(spec_.op, spec_.dtype, position, spec_.other);
    // The other operands are mostly plain, so that layouts meet each other.
    const bool laid = position == 0 || choices_.chance(30);
    return operands_.lay_out(laid ? spec_.layout : Layout::kContiguous, spec_.dtype, shape, domain);
  }

  NodeRef apply(const std::vector<NodeRef>& x) {
    if (spec_.op == Op::WHERE)
      return build_.where(operands_.param(DType::kBool, x[0]->shape, {}), x[0], x[1]);
    if (spec_.op == Op::FMA) return build_.fma(x[0], x[1], x[2]);
    return op_info(spec_.op).arity == 1 ? build_.unary(spec_.op, x[0])
                                        : build_.binary(spec_.op, x[0], x[1]);
  }

  std::vector<NodeRef> elementwise(const Shape& shape) {
    const int arity = spec_.op == Op::WHERE ? 2 : op_info(spec_.op).arity;
    if ((flags_ & kExhaustive) && arity == 2) {  // all pairs
      const Shape square{shape[0], shape[0]};
      return {apply({build_.expand(operands_.param(spec_.dtype, {shape[0], Dim(1)}, {}), square),
                     build_.expand(operands_.param(spec_.dtype, {Dim(1), shape[0]}, {}), square)})};
    }
    std::vector<NodeRef> x{operand(shape, 0)};
    const uint64_t kind = arity == 1 ? 0 : choices_.below(100);
    if (kind >= 82 || (arity > 1 && (flags_ & kWithConstant))) return with_constant(x[0]);
    if (kind >= 76 && !shape.empty())  // what may be read while it is written
      x.push_back(build_.flip(x[0], {static_cast<int>(shape.size()) - 1}));
    else if (kind >= 70 && likes_itself(spec_.op))
      x.push_back(x[0]);
    while (static_cast<int>(x.size()) < arity)
      x.push_back(operand(shape, static_cast<int>(x.size())));
    const NodeRef y = apply(x);
    // NEG flips one bit, of NaN too: only as an integer does its NaN have bits to compare.
    if (spec_.op == Op::NEG && is_float(spec_.dtype))
      return {y, build_.bit_cast(y, dtype_size(spec_.dtype) == 8   ? DType::kU64
                                    : dtype_size(spec_.dtype) == 4 ? DType::kU32
                                    : dtype_size(spec_.dtype) == 2 ? DType::kU16
                                                                   : DType::kU8)};
    return {y};
  }

  /// With a constant and its opposite: +0 and -0 are two.
  std::vector<NodeRef> with_constant(const NodeRef& x) {
    const Choices::Scope scope(choices_, Part::kOther);
    const bool first = choices_.chance(30);
    const Domain domain = operand_domain(spec_.op, spec_.dtype, first ? 0 : 1);
    const Scalar value = operands_.draw_constant(spec_.dtype, domain);
    const auto with = [&](const Scalar& scalar) {
      const NodeRef c = build_.constant(scalar, x->shape);
      return apply(first ? std::vector{c, x, x} : std::vector{x, c, x});
    };
    if (choices_.chance(50)) return {with(value), x};
    return {with(value), with(negated(value)), x};
  }

  std::vector<NodeRef> cast() {
    const NodeRef y = build_.cast(operand(draw_shape(), 0), spec_.other);
    if (flags_ & kExhaustive) return {y};
    const Choices::Scope scope(choices_, Part::kOther);
    const uint64_t kind = choices_.below(100);
    if (kind < 60 && !(flags_ & kWithConstant)) return {y};
    if (kind >= 90) return {y, build_.cast(y, spec_.dtype)};
    // Compilers narrow a comparison of a cast value with a constant, and get it wrong.
    const Scalar value = operands_.draw_constant(spec_.other, {});
    const NodeRef c = build_.constant(value, y->shape);
    const NodeRef less = build_.binary(Op::CMPLT, y, c), more = build_.binary(Op::CMPLT, c, y);
    if (kind < 80) return {less, more};
    return {build_.binary(Op::CMPNE, y, c), less, y};
  }

  NodeRef view() {
    const Shape shape = draw_shape(1);
    if (spec_.variant == kViewChain) return operands_.chain(spec_.dtype, shape, {});
    constexpr Layout kLayouts[] = {Layout::kReshaped, Layout::kBroadcast, Layout::kPermuted,
                                   Layout::kPadded,   Layout::kShrunk,    Layout::kFlipped};
    return operands_.lay_out(kLayouts[spec_.variant], spec_.dtype, shape, {});
  }

  std::vector<int> reduced_axes(int rank) const {
    switch (spec_.variant) {
      case 0:
        return {rank - 1};
      case 1:
        return {0};
      case 2:
        return {1};
      case 3:
        return {0, rank - 1};
      default: {
        std::vector<int> axes(static_cast<size_t>(rank));
        std::iota(axes.begin(), axes.end(), 0);
        return axes;
      }
    }
  }

  NodeRef reduce() {
    const int least = spec_.variant == 4 ? 0 : 1 + std::min(spec_.variant, 2);
    Shape shape = draw_shape(std::max(least, choices_.chance(50) ? 3 : 0));
    const auto rank = static_cast<int>(shape.size());
    const std::vector<int> axes = reduced_axes(rank);
    if (flags_ & kBig) shape = to_shape(draw_big_sizes(choices_, rank, axes.back()));
    const NodeRef x =
        operands_.lay_out(spec_.layout, spec_.dtype, shape, term_domain(spec_.op, spec_.dtype));
    // In eight bits a long sum says nothing.
    const bool wide = is_small_float(spec_.dtype) && (spec_.op == Op::ADD || spec_.op == Op::MUL);
    return build_.reduce(spec_.op, x, axes, wide ? DType::kF32 : DType::kVoid);
  }

  /// The shapes of what is indexed and of the positions, and the axis.
  struct Indexed {
    Shape sizes, positions;
    int axis;
  };
  Indexed draw_indexed(const int64_t (&counts)[4], int64_t budget) {
    const int rank = choices_.chance(50) ? 2 : 1;
    const auto axis = static_cast<int>(choices_.below(static_cast<uint64_t>(rank)));
    const std::vector<int64_t> sizes =
        flags_ & kBig ? draw_big_sizes(choices_, rank, axis) : draw_sizes(choices_, rank, budget);
    std::vector<int64_t> positions = sizes;
    const bool many = (flags_ & kBig) && choices_.chance(50);
    if (!many) positions[static_cast<size_t>(axis)] = choices_.pick(counts);
    return {to_shape(sizes), to_shape(positions), axis};
  }

  NodeRef positions(const Indexed& shapes) {
    const int64_t size = shapes.sizes[static_cast<size_t>(shapes.axis)].value();
    return operands_.param(spec_.other, shapes.positions, index_domain(size));
  }

  NodeRef take() {
    const Indexed shapes = draw_indexed(kTaken, 1200);
    const NodeRef x = operands_.param(spec_.dtype, shapes.sizes, {});
    return build_.take(x, positions(shapes), shapes.axis);
  }

  std::vector<NodeRef> store() {
    const Indexed shapes = draw_indexed(kStored, 600);
    const NodeRef x = operands_.param(spec_.dtype, shapes.sizes, {});
    const NodeRef index = positions(shapes);
    const NodeRef values =
        operands_.param(spec_.dtype, shapes.positions, term_domain(Op::ADD, spec_.dtype));
    const bool computed = choices_.chance(25);  // a base that only the store reads, so far
    const NodeRef base = computed ? build_.binary(Op::MAX, x, x) : x;
    const NodeRef y =
        build_.store(base, index, values, shapes.axis, static_cast<StoreMode>(spec_.variant));
    if (!choices_.chance(30)) return {y};
    if (choices_.chance(50)) return {y, base};  // both, after a write to one
    return {build_.binary(Op::MAX, y, base)};
  }

  std::vector<NodeRef> branch() {
    const Shape shape = to_shape(draw_sizes(choices_, 2, 200));
    const NodeRef condition = operands_.param(DType::kBool, {}, {});
    return {branch_on(build_, condition, operands_.param(spec_.dtype, shape, {}))};
  }

  std::vector<NodeRef> loop() {
    const Shape shape = to_shape(draw_sizes(choices_, 1, 100));
    const NodeRef trips = operands_.param(DType::kI64, {}, {.low = 0, .high = 5, .bounded = true});
    const NodeRef x = operands_.param(spec_.dtype, shape, {});
    const NodeRef step = operands_.param(spec_.dtype, shape, {});
    return {loop_over(build_, trips, x, step, spec_.variant != 0)};
  }

  /// An operand as a second output, or a second use of both: what may share memory and must not.
  void add_outputs(std::vector<NodeRef>& outputs) {
    const Choices::Scope scope(choices_, Part::kOutput);
    const uint64_t kind = choices_.below(100);
    if (kind < 84 || outputs[0]->sources.empty()) return;
    const NodeRef y = outputs[0];
    const NodeRef x = y->sources.back();
    if (kind >= 92 && x->dtype == y->dtype && same_shape(x->shape, y->shape))
      outputs.push_back(build_.binary(Op::MAX, x, y));
    else
      outputs.push_back(x);
  }

  const CellSpec spec_;
  Choices& choices_;
  Builder& build_;
  const uint32_t flags_;
  OperandBuilder operands_;
};

}  // namespace

Template build_cell(const CellSpec& spec, Choices& choices, Builder& builder, uint32_t flags) {
  return CellBuilder(spec, choices, builder, flags).build();
}

}  // namespace tenon::conformance::graphs
