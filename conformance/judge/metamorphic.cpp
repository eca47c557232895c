// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Relations that change the way in or the way out.
#include "conformance/judge/metamorphic.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "conformance/cases/graphs/shapes.hpp"
#include "conformance/cases/random.hpp"
#include "conformance/judge/rewrite.hpp"
#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::judge {
namespace {

enum class Relation {
  kPermuteInput,
  kFlipInput,
  kPadInput,
  kReshapeInput,
  kSplitInput,
  kPermuteOutput,
  kFlipOutput,
  kSliceOutput,
  kReshapeOutput,
  kKeepInner,
};
constexpr int kRelations = static_cast<int>(Relation::kKeepInner) + 1;

bool has_bit_cast(const Graph& graph) {
  return std::ranges::any_of(topological(graph.outputs), [](const NodeRef& node) {
    const auto* cast = std::get_if<CastAttr>(&node->attr);
    return cast && cast->bits;
  });
}

/// What must not be read: NaN, or the largest value.
Scalar junk(DType dtype) {
  if (is_float(dtype)) return Scalar::of(dtype, std::numeric_limits<double>::quiet_NaN());
  return dtype == DType::kBool ? Scalar{dtype, 1} : Scalar::of(dtype, 113);
}

class Drawer {
 public:
  Drawer(const Case& test, uint64_t seed, const Profile& profile, Builder& builder)
      : test_(test), random_(seed), profile_(profile), build_(builder) {
    out_.test.seed = test.seed;
    out_.test.index = test.index;
    out_.test.cell = test.cell;
    out_.test.mode = test.mode;
    out_.test.symbols = test.symbols;
    out_.test.graph = test.graph;
    out_.test.inputs = test.inputs;
  }

  std::optional<Variant> draw() {
    const auto relation = static_cast<Relation>(random_.below(kRelations));
    if (!apply(relation)) return std::nullopt;
    return std::move(out_);
  }

 private:
  bool apply(Relation relation) {
    switch (relation) {
      case Relation::kPermuteInput:
      case Relation::kFlipInput:
      case Relation::kPadInput:
      case Relation::kReshapeInput:
      case Relation::kSplitInput:
        return pick_input() && apply_to_input(relation);
      case Relation::kPermuteOutput:
      case Relation::kFlipOutput:
      case Relation::kSliceOutput:
      case Relation::kReshapeOutput:
        out_.places.resize(test_.graph.outputs.size());
        return apply_to_outputs(relation);
      case Relation::kKeepInner:
        return keep_inner();
    }
    return false;
  }

  bool pick_input() {
    if (test_.inputs.empty()) return false;
    input_ = random_.below(test_.inputs.size());
    param_ = test_.graph.params[input_];
    view_ = Strided::dense(test_.inputs[input_].shape);
    return !param_->shape.empty();
  }

  const Array& input() const { return test_.inputs[input_]; }

  bool apply_to_input(Relation relation) {
    const Shape& shape = param_->shape;
    switch (relation) {
      case Relation::kPermuteInput: {
        if (shape.size() < 2) return false;
        const std::vector<int> axes = draw_permutation(shape.size());
        // What is permuted back has these axes now.
        std::vector<int> inverse(axes.size());
        Shape turned(axes.size());
        for (size_t i = 0; i < axes.size(); ++i) {
          inverse[static_cast<size_t>(axes[i])] = static_cast<int>(i);
          turned[i] = shape[static_cast<size_t>(axes[i])];
        }
        const NodeRef param = new_param(turned, view_.permuted(axes));
        return replace("permuted and back", build_.permute(param, inverse));
      }
      case Relation::kFlipInput: {
        const std::vector<int> axes = draw_axes(shape.size());
        const NodeRef param = new_param(shape, view_.flipped(axes));
        return replace("flipped and back", build_.flip(param, axes));
      }
      case Relation::kPadInput:
        return pad_input();
      case Relation::kReshapeInput: {
        Shape flat{product(shape)};
        if (random_.chance(50)) flat.insert(flat.begin() + random_.between(0, 1), Dim(1));
        const NodeRef param =
            new_param(flat, Strided::dense(graphs::concrete(flat, test_.symbols)));
        return replace("reshaped and back", build_.reshape(param, shape));
      }
      case Relation::kSplitInput:
        return split_input();
      default:
        return false;
    }
  }

  bool pad_input() {
    Shape large;
    std::vector<std::pair<Dim, Dim>> ranges;
    Strided inside;
    for (const Dim& dim : param_->shape) {
      const int64_t before = random_.between(0, 3), after = random_.between(0, 3);
      large.push_back(dim + Dim(before + after));
      ranges.emplace_back(Dim(before), dim + Dim(before));
    }
    Array padded = Array::zeros(param_->dtype, graphs::concrete(large, test_.symbols));
    for (int64_t i = 0; i < padded.count(); ++i) padded.set(i, junk(padded.dtype));
    inside = Strided::dense(padded.shape);
    for (size_t axis = 0; axis < ranges.size(); ++axis) {
      const int64_t begin = ranges[axis].first.value();
      inside = inside.sliced(axis, begin, begin + view_.shape[axis]);
    }
    scatter(input(), inside.places(), padded);
    const NodeRef param = named_param(large, 0);
    arrays_ = {std::move(padded)};
    params_ = {param};
    return replace("padded and shrunk", build_.shrink(param, ranges));
  }

  bool split_input() {
    // Selects may flush, and make other NaN of NaN.
    if (has_bit_cast(test_.graph) || (is_float(param_->dtype) && profile_.numerics)) return false;
    const auto axis = static_cast<size_t>(random_.below(param_->shape.size()));
    if (!param_->shape[axis].is_const() || param_->shape[axis].value() < 2) return false;
    const int64_t size = param_->shape[axis].value();
    const int64_t middle = random_.between(1, size - 1);
    Shape first = param_->shape, second = param_->shape;
    first[axis] = Dim(middle);
    second[axis] = Dim(size - middle);
    const NodeRef a = new_param(first, view_.sliced(axis, 0, middle));
    const NodeRef b = new_param(second, view_.sliced(axis, middle, size));
    std::vector<std::pair<Dim, Dim>> after(first.size()), before(first.size());
    after[axis].second = Dim(size - middle);
    before[axis].first = Dim(middle);
    const Scalar fill{param_->dtype, 0};
    const NodeRef place = build_.index(static_cast<int>(axis), param_->shape, DType::kI32);
    const NodeRef limit = build_.constant(Scalar::of_int(DType::kI32, middle), param_->shape);
    return replace("split and joined",
                   build_.where(build_.binary(Op::CMPLT, place, limit), build_.pad(a, after, fill),
                                build_.pad(b, before, fill)));
  }

  bool apply_to_outputs(Relation relation) {
    bool any = false;
    for (size_t k = 0; k < test_.graph.outputs.size(); ++k) {
      NodeRef& output = out_.test.graph.outputs[k];
      if (output->shape.empty()) continue;
      const Strided view = Strided::dense(graphs::concrete(output->shape, test_.symbols));
      switch (relation) {
        case Relation::kPermuteOutput: {
          const std::vector<int> axes = draw_permutation(output->shape.size());
          if (axes.size() < 2) continue;
          output = build_.permute(output, axes);
          out_.places[k] = view.permuted(axes).places();
          break;
        }
        case Relation::kFlipOutput: {
          const std::vector<int> axes = draw_axes(output->shape.size());
          output = build_.flip(output, axes);
          out_.places[k] = view.flipped(axes).places();
          break;
        }
        case Relation::kSliceOutput:
          if (!slice(output, view, out_.places[k])) continue;
          break;
        case Relation::kReshapeOutput:
          output = build_.reshape(output, {product(output->shape), Dim(1)});
          out_.places[k] = Strided::dense(view.shape).places();
          break;
        default:
          return false;
      }
      any = true;
    }
    constexpr std::string_view kNames[] = {"permuted", "flipped", "in part", "reshaped"};
    out_.relation = fmt::format(
        "outputs {}",
        kNames[static_cast<int>(relation) - static_cast<int>(Relation::kPermuteOutput)]);
    return any;
  }

  /// One half of an axis alone.
  bool slice(NodeRef& output, const Strided& view, std::optional<std::vector<int64_t>>& places) {
    const auto axis = static_cast<size_t>(random_.below(output->shape.size()));
    const bool upper = random_.chance(50);
    const Dim& dim = output->shape[axis];
    if (!dim.is_const() || dim.value() < 2) return false;
    const int64_t begin = upper ? dim.value() / 2 : 0, end = upper ? dim.value() : dim.value() / 2;
    std::vector<std::pair<Dim, Dim>> ranges;
    for (const Dim& whole : output->shape) ranges.emplace_back(Dim(0), whole);
    ranges[axis] = {Dim(begin), Dim(end)};
    output = build_.shrink(output, ranges);
    places = view.sliced(axis, begin, end).places();
    return true;
  }

  /// One more output: what was fused away is now written to memory.
  bool keep_inner() {
    std::vector<NodeRef> inner;
    for (const NodeRef& node : topological(test_.graph.outputs))
      if (!node->sources.empty() && node->op != Op::IF && node->op != Op::LOOP &&
          std::ranges::find(test_.graph.outputs, node) == test_.graph.outputs.end())
        inner.push_back(node);
    if (inner.empty()) return false;
    out_.test.graph.outputs.push_back(random_.pick(inner));
    out_.test.graph.output_names.push_back("");
    out_.relation = "an inner node is an output too";
    return true;
  }

  std::vector<int> draw_permutation(size_t rank) {
    std::vector<int> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    for (size_t i = rank; i > 1; --i) std::swap(axes[i - 1], axes[random_.below(i)]);
    if (rank > 1 && std::ranges::is_sorted(axes)) std::swap(axes.front(), axes.back());
    return axes;
  }

  std::vector<int> draw_axes(size_t rank) {
    std::vector<int> axes;
    for (size_t i = 0; i < rank; ++i)
      if (random_.chance(50)) axes.push_back(static_cast<int>(i));
    if (axes.empty()) axes.push_back(static_cast<int>(rank) - 1);
    return axes;
  }

  NodeRef named_param(const Shape& shape, size_t part) {
    return build_.param(fmt::format("{}_{}", param_->as<ParamAttr>().name, part), param_->dtype,
                        shape);
  }

  /// A param that holds these elements of the input.
  NodeRef new_param(const Shape& shape, const Strided& elements) {
    params_.push_back(named_param(shape, params_.size()));
    arrays_.push_back(gather(input(), graphs::concrete(shape, test_.symbols), elements.places()));
    return params_.back();
  }

  bool replace(std::string_view what, const NodeRef& node) {
    Graph& graph = out_.test.graph;
    Remapped replaced;
    replaced.try_emplace(param_.get(), node);
    graph.outputs = substitute(graph.outputs, replaced, build_);
    const auto at = static_cast<std::ptrdiff_t>(input_);
    graph.params.erase(graph.params.begin() + at);
    graph.params.insert(graph.params.begin() + at, params_.begin(), params_.end());
    std::vector<Array>& inputs = out_.test.inputs;
    inputs.erase(inputs.begin() + at);
    inputs.insert(inputs.begin() + at, arrays_.begin(), arrays_.end());
    out_.relation = fmt::format("input {} {}", input_, what);
    return true;
  }

  const Case& test_;
  Random random_;
  const Profile& profile_;
  Builder& build_;
  Variant out_;
  size_t input_ = 0;
  NodeRef param_;
  Strided view_;
  std::vector<NodeRef> params_;
  std::vector<Array> arrays_;
};

}  // namespace

std::optional<Variant> draw_variant(const Case& test, uint64_t seed, const Profile& profile,
                                    Builder& builder) {
  return Drawer(test, seed, profile, builder).draw();
}

std::vector<Array> restored(const Variant& variant, const std::vector<Array>& plain,
                            const std::vector<Array>& got) {
  std::vector<Array> out = plain;
  for (size_t k = 0; k < plain.size(); ++k) {
    if (k < variant.places.size() && variant.places[k])
      scatter(got[k], *variant.places[k], out[k]);
    else
      out[k] = got[k];
  }
  return out;
}

}  // namespace tenon::conformance::judge
