// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of the shrinker, from the coarsest to the finest.
#include "conformance/shrink/shrink.hpp"

#include <chrono>
#include <set>

#include "conformance/shrink/edit.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

class Shrinker {
 public:
  Shrinker(Case failing, const StillFails& still_fails, Builder& builder,
           const ShrinkLimits& limits)
      : best_(std::move(failing)), still_fails_(still_fails), build_(builder), limits_(limits) {}

  Case run() {
    bool smaller = true;
    while (smaller && !spent()) {
      smaller = outputs();
      smaller = cut_above() || smaller;
      smaller = inputs_below() || smaller;
      smaller = bypass() || smaller;
      smaller = sizes() || smaller;
    }
    values();
    return best_;
  }

 private:
  bool spent() const {
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin_;
    return probes_ >= limits_.probes || used.count() > limits_.seconds;
  }

  bool accept(std::optional<Case> candidate) {
    if (!candidate || candidate->graph.outputs.empty() || spent()) return false;
    ++probes_;
    if (!still_fails_(*candidate)) return false;
    best_ = std::move(*candidate);
    return true;
  }

  size_t node_count() const { return topological(best_.graph.outputs).size(); }

  /// One output alone.
  bool outputs() {
    const std::vector<NodeRef> all = best_.graph.outputs;
    if (all.size() < 2) return false;
    for (const NodeRef& output : all)
      if (accept(with_outputs(best_, {output}))) return true;
    return false;
  }

  /// The lowest node that fails by itself.
  bool cut_above() {
    const std::vector<NodeRef> nodes = topological(best_.graph.outputs);
    for (const NodeRef& node : nodes)
      if (node->op != Op::PARAM && topological({node}).size() < nodes.size() &&
          accept(with_outputs(best_, {node})))
        return true;
    return false;
  }

  /// The reference's values in place of what feeds the outputs, then in place of single nodes.
  bool inputs_below() {
    const NodeValues values = evaluate_all(best_);
    std::vector<NodeRef> feeds;
    for (const NodeRef& output : best_.graph.outputs)
      for (const NodeRef& source : output->sources) feeds.push_back(source);
    const size_t before = node_count();
    if (shrinks(with_inputs_for(best_, feeds, values, build_), before)) return true;
    for (const NodeRef& node : topological(best_.graph.outputs))
      if (!node->sources.empty() && shrinks(with_inputs_for(best_, {node}, values, build_), before))
        return true;
    return false;
  }

  bool shrinks(std::optional<Case> candidate, size_t before) {
    return candidate && topological(candidate->graph.outputs).size() < before &&
           accept(std::move(candidate));
  }

  /// A node gives way to one of its own operands.
  bool bypass() {
    const size_t before = node_count();
    for (const NodeRef& node : topological(best_.graph.outputs))
      for (const NodeRef& source : node->sources)
        if (shrinks(with_replaced(best_, node, source, build_), before)) return true;
    return false;
  }

  bool sizes() {
    bool any = accept(with_static_shapes(best_, build_));
    const SymbolValues symbols = best_.symbols;
    for (const Expr& symbol : std::vector<Expr>(best_.graph.symbols))
      for (int64_t value = symbol.min(); value < symbols.at(symbol.name()); value = value * 2 + 1)
        if (accept(with_smaller_symbol(best_, symbol.name(), value))) {
          any = true;
          break;
        }
    if (!best_.graph.symbols.empty()) return any;
    std::set<int64_t, std::greater<>> sizes;
    for (const NodeRef& node : topological(best_.graph.outputs))
      for (const Dim& dim : node->shape) sizes.insert(dim.value());
    for (const int64_t size : sizes) any = smaller_size(size) || any;
    return any;
  }

  /// The smallest size that still fails, by trying the small ones and then bisection.
  bool smaller_size(int64_t size) {
    for (const int64_t small : {1, 2, 3})
      if (small < size && accept(with_smaller_size(best_, size, small, build_))) return true;
    int64_t passes = 3, fails = size;
    while (fails - passes > 1 && !spent()) {
      const int64_t middle = passes + (fails - passes) / 2;
      if (accept(with_smaller_size(best_, fails, middle, build_)))
        fails = middle;
      else
        passes = middle;
    }
    return fails < size;
  }

  /// Ever smaller chunks of each input become one, or zero.
  void values() {
    for (size_t input = 0; input < best_.inputs.size(); ++input) {
      const int64_t count = best_.inputs[input].count();
      for (int64_t chunk = count; chunk >= 1 && !spent(); chunk /= 2) {
        if (count / chunk > 64) break;  // the rest of a large array does not read better
        for (int64_t begin = 0; begin < count && !spent(); begin += chunk) {
          const DType dtype = best_.inputs[input].dtype;
          if (!put(input, begin, chunk, zero(dtype))) put(input, begin, chunk, one(dtype));
        }
      }
    }
  }

  bool put(size_t input, int64_t begin, int64_t count, const Scalar& value) {
    Case candidate = best_;
    Array& array = candidate.inputs[input];
    bool changes = false;
    for (int64_t i = begin; i < std::min(begin + count, array.count()); ++i) {
      if (array.at(i).is_zero()) continue;
      changes = changes || !(array.at(i) == value);
      array.set(i, value);
    }
    return changes && accept(std::move(candidate));
  }

  Case best_;
  const StillFails& still_fails_;
  Builder& build_;
  ShrinkLimits limits_;
  int probes_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

Case shrink(Case failing, const StillFails& still_fails, Builder& builder,
            const ShrinkLimits& limits) {
  return Shrinker(std::move(failing), still_fails, builder, limits).run();
}

}  // namespace tenon::conformance
