// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Narrows 64-bit integers whose value range fits 32 bits, as positions: i64 to i32, u64 to u32. The
// cast back to 64 bits moves towards the outputs, and vanishes at comparisons, TAKE and other
// casts.
#include <algorithm>
#include <memory>

#include "core/rewrite/rules/rules.hpp"
#include "core/rewrite/value_range.hpp"

namespace tenon::rewrite {
namespace {

DType short_of(DType wide) { return wide == DType::kI64 ? DType::kI32 : DType::kU32; }

class Shortener {
 public:
  NodeRef apply(const NodeRef& node, Builder& builder) {
    switch (node->op) {
      case Op::INDEX:
        if (!is_wide(node->dtype) || !fits(ranges_.of(node), short_of(node->dtype))) return nullptr;
        return builder.cast(
            builder.index(node->as<IndexAttr>().axis, node->shape, short_of(node->dtype)),
            node->dtype);
      case Op::TAKE:
      case Op::STORE:
        if (NodeRef made = indexed(node, builder)) return made;
        return node->op == Op::TAKE ? computed(node, builder) : nullptr;
      case Op::CMPLT:
      case Op::CMPNE:
      case Op::CMPEQ:
        return compared(node, builder);
      case Op::VIEW:
      case Op::REDUCE:
        return computed(node, builder);
      default:
        return is_elementwise(node->op) && node->op != Op::CAST ? computed(node, builder) : nullptr;
    }
  }

 private:
  /// The values in the 32-bit dtype, if a cast is all it takes; else null.
  NodeRef shortened(const NodeRef& node, Builder& builder) {
    const DType dtype = short_of(node->dtype);
    if (!fits(ranges_.of(node), dtype)) return nullptr;
    if (node->op == Op::CONST)
      return builder.constant(cast(node->as<ConstAttr>().value, dtype), node->shape);
    if (node->op == Op::PARAM && node->as<ParamAttr>().is_dim) return builder.cast(node, dtype);
    if (node->op != Op::CAST || node->as<CastAttr>().bits) return nullptr;
    const NodeRef& x = node->sources[0];
    if (is_wide(x->dtype) || is_float(x->dtype)) return nullptr;
    return x->dtype == dtype ? x : builder.cast(x, dtype);
  }

  bool shorten(std::vector<NodeRef>& sources, Builder& builder) {
    return std::ranges::all_of(sources, [&](NodeRef& source) {
      if (!is_wide(source->dtype)) return true;
      NodeRef made = shortened(source, builder);
      if (made) source = std::move(made);
      return !is_wide(source->dtype);
    });
  }

  NodeRef computed(const NodeRef& node, Builder& builder) {
    if (!is_wide(node->dtype)) return nullptr;
    const DType dtype = short_of(node->dtype);
    std::vector<NodeRef> sources = node->sources;
    if (!fits(ranges_.of(node), dtype) || !shorten(sources, builder)) return nullptr;
    Attr attr = node->attr;
    if (auto* view = std::get_if<ViewAttr>(&attr); view && view->kind == ViewKind::kPad)
      view->fill = cast(view->fill, dtype);
    if (auto* reduce = std::get_if<ReduceAttr>(&attr)) reduce->accumulator = dtype;
    return builder.cast(builder.make(node->op, dtype, node->shape, std::move(sources), attr),
                        node->dtype);
  }

  NodeRef compared(const NodeRef& node, Builder& builder) {
    const NodeRef &x = node->sources[0], &y = node->sources[1];
    if (!is_wide(x->dtype)) return nullptr;
    const Range a = ranges_.of(x), b = ranges_.of(y);
    if (a.known && b.known && (a.high < b.low || b.high < a.low)) {
      const bool is_true = node->op == Op::CMPLT ? a.high < b.low : node->op == Op::CMPNE;
      return builder.constant(is_true ? one(DType::kBool) : zero(DType::kBool), node->shape);
    }
    std::vector<NodeRef> sources = node->sources;
    if (!shorten(sources, builder)) return nullptr;
    return builder.binary(node->op, sources[0], sources[1]);
  }

  /// Narrows the index of a TAKE or STORE. A float index saturates, and then is still out of
  /// bounds.
  NodeRef indexed(const NodeRef& node, Builder& builder) {
    const NodeRef& index = node->sources[1];
    if (!is_wide(index->dtype)) return nullptr;
    NodeRef made = shortened(index, builder);
    const int axis = node->op == Op::TAKE ? node->as<TakeAttr>().axis : node->as<StoreAttr>().axis;
    const bool below = node->sources[0]->shape[static_cast<size_t>(axis)].max() <= INT32_MAX;
    if (!made && below && index->op == Op::CAST && is_float(index->sources[0]->dtype))
      made = builder.cast(index->sources[0], short_of(index->dtype));
    if (!made) return nullptr;
    std::vector<NodeRef> sources = node->sources;
    sources[1] = std::move(made);
    return builder.make(node->op, DType::kVoid, {}, std::move(sources), node->attr);
  }

  Ranges ranges_;
};

}  // namespace

Rules shorten_rules() {
  std::vector<Op> roots{Op::INDEX, Op::TAKE, Op::STORE, Op::VIEW, Op::REDUCE};
  for (const OpInfo& info : all_ops())
    if (is_elementwise(info.op) && info.level != OpLevel::PROGRAM) roots.push_back(info.op);
  auto shortener = std::make_shared<Shortener>();
  return {{"shorten", roots, [shortener](const NodeRef& node, Builder& builder) {
             return shortener->apply(node, builder);
           }}};
}

}  // namespace tenon::rewrite
