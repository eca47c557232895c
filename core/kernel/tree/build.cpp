// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/tree/build.hpp"

#include <algorithm>
#include <utility>

#include "core/kernel/tree/evaluate_at.hpp"
#include "core/kernel/tree/nest_statements.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// A loop nest for outputs whose dimensions are equal or 1.
struct Nest {
  Shape shape;
  std::vector<int> axes;  ///< of the kernel; -1 for size 1
  std::vector<Statement> stores;
  bool ordered = false;  ///< of a scatter: not shared with other outputs
};

class KernelBuilder {
 public:
  KernelBuilder(const Graph& graph, const std::vector<int>& alias, const std::vector<int>& sections)
      : graph_(graph), alias_(alias), sections_(sections), evaluator_(kernel_, params_) {}

  Kernel build() {
    kernel_.name = graph_.name;
    kernel_.symbols = graph_.symbols;
    add_buffers();
    if (sections_.empty()) {
      add_outputs(0, graph_.outputs.size());
    } else {
      add_sections();
    }
    std::vector<LoopNest> nests;
    for (Nest& nest : nests_) {
      nests.push_back({{}, std::move(nest.stores), nest.ordered});
      for (const int axis : nest.axes)
        if (axis >= 0) nests.back().axes.push_back(axis);
    }
    fuse_reductions(kernel_, nests);
    place_statements(kernel_, std::move(nests));
    return std::move(kernel_);
  }

 private:
  void add_outputs(size_t first, size_t end) {
    for (size_t i = first; i < end; ++i) {
      const NodeRef& output = graph_.outputs[i];
      if (output->op == Op::STORE)
        add_scatter(output, outputs_[i]);
      else
        add_output(output, outputs_[i]);
    }
  }

  /// One nest for each section: one loop, or stores alone.
  void add_sections() {
    size_t next = 0;
    for (const int count : sections_) {
      const size_t first = std::exchange(next, next + static_cast<size_t>(count));
      first_nest_ = nests_.size();
      TN_REQUIRE(count > 0 && next <= graph_.outputs.size(),
                 "[kernel] expected sections of {} outputs, got more", graph_.outputs.size());
      add_outputs(first, next);
      TN_REQUIRE(
          nests_.size() == first_nest_ + 1 && !nests_.back().ordered && kernel_.reductions == 0,
          "[kernel] expected elementwise outputs of one shape in a section, got others");
      const bool is_loop =
          std::ranges::any_of(nests_.back().axes, [](int axis) { return axis >= 0; });
      kernel_.sections.push_back(is_loop ? 1 : count);
    }
    TN_REQUIRE(next == graph_.outputs.size(), "[kernel] expected sections of {} outputs, got {}",
               graph_.outputs.size(), next);
  }

  void add_buffers() {
    TN_REQUIRE(alias_.empty() || alias_.size() == graph_.outputs.size(),
               "[kernel] expected an alias for each of {} outputs, got {}", graph_.outputs.size(),
               alias_.size());
    for (size_t i = 0; i < graph_.params.size(); ++i) {
      const NodeRef& p = graph_.params[i];
      params_[p.get()] = static_cast<int>(kernel_.buffers.size());
      kernel_.buffers.push_back({p->as<ParamAttr>().name, p->dtype, product(p->shape),
                                 BufferSpace::kGlobal, static_cast<int>(i), -1, false, false});
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const NodeRef& out = graph_.outputs[i];
      const int alias = alias_.empty() ? -1 : alias_[i];
      TN_REQUIRE(alias < static_cast<int>(graph_.params.size()),
                 "[kernel] expected an alias below {}, got {}", graph_.params.size(), alias);
      outputs_.push_back(alias >= 0 ? alias : static_cast<int>(kernel_.buffers.size()));
      if (alias < 0)
        kernel_.buffers.push_back({"out" + std::to_string(i), out->dtype, product(out->shape),
                                   BufferSpace::kGlobal, -1, -1, false, false});
      KernelBuffer& buffer = kernel_.buffers[outputs_.back()];
      buffer.output = static_cast<int>(i);
      buffer.written = true;
    }
  }

  /// A dimension of size 0 or 1 has no loop; the store is masked by the size.
  static bool is_single(const Dim& size) { return size.max() <= 1; }

  static Expr singles_exist(const Shape& shape) {
    Expr all = 1;
    for (const Dim& size : shape)
      if (is_single(size)) all = logical_and(all, tenon::not_empty(size));
    return all;
  }

  static bool fits(const Nest& nest, const Shape& shape) {
    if (nest.ordered || nest.shape.size() != shape.size()) return false;
    bool smaller = false, larger = false;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (nest.shape[d] == shape[d] || (is_single(nest.shape[d]) && is_single(shape[d]))) continue;
      smaller |= is_single(shape[d]);
      larger |= is_single(nest.shape[d]);
      if (!is_single(shape[d]) && !is_single(nest.shape[d])) return false;
    }
    return !(smaller && larger);
  }

  void grow(Nest& nest, const Shape& shape) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (nest.axes[d] >= 0 || is_single(shape[d])) continue;
      nest.axes[d] =
          kernel_.add_axis(evaluator_.fresh("a", next_axis_), shape[d], AxisKind::kParallel);
      nest.shape[d] = shape[d];
    }
  }

  IndexTuple point(const Nest& nest, const Shape& shape) const {
    IndexTuple index(shape.size(), Expr(0));
    for (size_t d = 0; d < shape.size(); ++d)
      if (!is_single(shape[d])) index[d] = kernel_.axes[nest.axes[d]].symbol();
    return index;
  }

  static Expr not_empty(const Shape& shape) {
    Expr all = 1;
    for (const Dim& size : shape) all = logical_and(all, tenon::not_empty(size));
    return all;
  }

  void add_output(const NodeRef& output, int buffer) {
    const Shape& shape = output->shape;
    if (product(shape).is_const(0)) return;
    auto nest = std::find_if(nests_.begin() + static_cast<std::ptrdiff_t>(first_nest_),
                             nests_.end(), [&](const Nest& n) { return fits(n, shape); });
    if (nest == nests_.end()) {
      nests_.push_back(
          {Shape(shape.size(), Dim(1)), std::vector<int>(shape.size(), -1), {}, false});
      nest = nests_.end() - 1;
    }
    grow(*nest, shape);
    Statement store;
    store.kind = Statement::Kind::kStore;
    store.buffer = buffer;
    const IndexTuple index = point(*nest, shape);
    store.index = linearise(index, shape);
    store.mask = singles_exist(shape);
    store.value = evaluator_.at(output, index, not_empty(shape));
    nest->stores.push_back(std::move(store));
  }

  /// Iterations along the scatter's axis run in order, all others in parallel.
  void add_scatter(const NodeRef& node, int buffer) {
    const auto& attr = node->as<StoreAttr>();
    TN_REQUIRE(kernel_.buffers[buffer].input >= 0 &&
                   graph_.params[kernel_.buffers[buffer].input] == node->sources[0],
               "[store] expected its first operand to be the param that the output is aliased to, "
               "got another");
    const Shape& shape = node->sources[1]->shape;
    if (product(shape).is_const(0)) return;
    Nest nest{Shape(shape.size(), Dim(1)), std::vector<int>(shape.size(), -1), {}, true};
    grow(nest, shape);
    if (nest.axes[attr.axis] >= 0) kernel_.axes[nest.axes[attr.axis]].kind = AxisKind::kOrdered;
    const IndexTuple index = point(nest, shape);
    const auto target = evaluator_.position(
        evaluator_.at(node->sources[1], index, not_empty(shape)), node->shape[attr.axis]);
    IndexTuple to = index;
    to[attr.axis] = target.index;
    Statement store;
    store.kind = Statement::Kind::kStore;
    store.buffer = buffer;
    store.index = linearise(to, node->shape);
    store.mask = logical_and(target.in_bounds, singles_exist(shape));
    store.value = evaluator_.at(node->sources[2], index, not_empty(shape));
    if (attr.mode == StoreMode::kAdd) store.value = sum(store, node->dtype);
    nest.stores.push_back(std::move(store));
    nests_.push_back(std::move(nest));
  }

  /// The stored element plus the value, rounded once to the dtype.
  KValueRef sum(const Statement& store, DType dtype) {
    kernel_.buffers[store.buffer].read = true;
    const KValueRef old = make_load(store.buffer, dtype, store.index, store.mask, zero(dtype));
    DType wide = dtype;  // narrow dtypes may have no arithmetic
    if (dtype != DType::kBool && dtype_bits(dtype) < 32)
      wide = is_float(dtype) ? DType::kF32 : is_signed(dtype) ? DType::kI32 : DType::kU32;
    const Op add = dtype == DType::kBool ? Op::OR : Op::ADD;
    return make_cast(make_op(add, wide, {make_cast(old, wide), make_cast(store.value, wide)}),
                     dtype);
  }

  const Graph& graph_;
  const std::vector<int>&alias_, &sections_;
  Kernel kernel_;
  std::unordered_map<const Node*, int> params_;
  std::vector<int> outputs_;  ///< buffer of each output
  IndexEvaluator evaluator_;
  std::vector<Nest> nests_;
  size_t first_nest_ = 0;  ///< of the current section
  int next_axis_ = 0;
};

}  // namespace

Kernel build_kernel(const Graph& graph, const std::vector<int>& alias,
                    const std::vector<int>& sections) {
  return KernelBuilder(graph, alias, sections).build();
}

}  // namespace tenon
