// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/training.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "conformance/cases/random.hpp"
#include "core/autodiff/autodiff.hpp"
#include "core/ir/text/text.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

using Sizes = std::vector<int64_t>;

constexpr int64_t kExamples = 64, kBatch = 16, kClasses = 4;

Shape shape_of(const Sizes& sizes) { return {sizes.begin(), sizes.end()}; }

/// The graph of one step, from its parts. Everything is f32 but positions and tokens, i32.
class Step {
 public:
  Step(Builder& builder, uint64_t seed) : b_(builder), random_(seed) {
    step_ = state("turn", Array::zeros(DType::kI32, {1}));
  }

  Random& random() { return random_; }

  /// Glorot and Bengio (2010): uniform, by the numbers of what comes in and goes out.
  NodeRef weight(const std::string& name, const Sizes& sizes, int64_t in, int64_t out) {
    const double most = std::sqrt(6.0 / static_cast<double>(in + out));
    weights_.push_back(name);
    return state(name, filled(sizes, [&] { return most * (2 * random_.unit() - 1); }));
  }

  /// Rows of what is learned from, those of this step.
  NodeRef batch(const std::string& name, Array examples) {
    Sizes rows = examples.shape;
    rows[0] = kBatch;
    const DType dtype = examples.dtype;
    data_.push_back(b_.param(name, dtype, shape_of(examples.shape)));
    data_values_.push_back(std::move(examples));
    const NodeRef first =
        binary(Op::MUL, spread(step_, {kBatch}), number(kBatch, {kBatch}, DType::kI32));
    const NodeRef at =
        binary(Op::MOD, binary(Op::ADD, first, b_.index(0, shape_of({kBatch}), DType::kI32)),
               number(kExamples, {kBatch}, DType::kI32));
    Sizes thin(rows.size(), 1);
    thin[0] = kBatch;
    return b_.take(data_.back(), spread(at, thin, rows), 0);
  }

  static Array filled(const Sizes& sizes, const std::function<double()>& next,
                      DType dtype = DType::kF32) {
    Array out = Array::zeros(dtype, sizes);
    for (int64_t i = 0; i < out.count(); ++i) out.set(i, Scalar::of(dtype, next()));
    return out;
  }

  NodeRef number(double value, const Sizes& sizes, DType dtype = DType::kF32) {
    return b_.constant(Scalar::of(dtype, value), shape_of(sizes));
  }
  NodeRef like(const NodeRef& x, double value) {
    return b_.constant(Scalar::of(DType::kF32, value), x->shape);
  }
  NodeRef binary(Op op, const NodeRef& a, const NodeRef& b) { return b_.binary(op, a, b); }
  NodeRef add(const NodeRef& a, const NodeRef& b) { return b_.binary(Op::ADD, a, b); }
  NodeRef mul(const NodeRef& a, const NodeRef& b) { return b_.binary(Op::MUL, a, b); }
  NodeRef mul(const NodeRef& a, double factor) { return mul(a, like(a, factor)); }
  NodeRef sub(const NodeRef& a, const NodeRef& b) { return b_.binary(Op::SUB, a, b); }
  NodeRef relu(const NodeRef& a) { return b_.binary(Op::MAX, a, like(a, 0)); }
  NodeRef reshape(const NodeRef& x, const Sizes& sizes) { return b_.reshape(x, shape_of(sizes)); }
  /// By way of `thin`, of the rank of `sizes`.
  NodeRef spread(const NodeRef& x, const Sizes& thin, const Sizes& sizes) {
    return b_.expand(reshape(x, thin), shape_of(sizes));
  }
  /// One row for each of what comes before it.
  NodeRef spread(const NodeRef& row, const Sizes& sizes) {
    Sizes thin(sizes.size(), 1);
    thin.back() = row->shape.back().is_const(1) ? 1 : sizes.back();
    return spread(row, thin, sizes);
  }
  NodeRef reduce(Op op, const NodeRef& x, int axis) { return b_.reduce(op, x, {axis}); }
  /// [m, k] times [k, n].
  NodeRef matmul(const NodeRef& x, const NodeRef& w) {
    const int64_t m = size(x, 0), k = size(x, 1), n = size(w, 1);
    const NodeRef all = mul(spread(x, {m, k, 1}, {m, k, n}), spread(w, {1, k, n}, {m, k, n}));
    return reshape(reduce(Op::ADD, all, 1), {m, n});
  }
  NodeRef exp(const NodeRef& x) { return b_.unary(Op::EXP2, mul(x, std::numbers::log2e)); }
  NodeRef log(const NodeRef& x) { return mul(b_.unary(Op::LOG2, x), std::numbers::ln2); }
  /// Of numbers that stay small: the slope of a largest one to take off depends on which of two
  /// that are nearly equal is larger, so that any slope would be right.
  NodeRef softmax(const NodeRef& x) {
    const NodeRef e = exp(x);
    const int last = static_cast<int>(x->shape.size()) - 1;
    return mul(e, b_.expand(b_.unary(Op::RECIP, reduce(Op::ADD, e, last)), x->shape));
  }
  /// Mean over rows [n, classes] of what is one in the row of its class.
  NodeRef cross_entropy(const NodeRef& logits, const NodeRef& one_hot) {
    const NodeRef sums = log(reduce(Op::ADD, exp(logits), 1));
    const NodeRef lost = mul(one_hot, sub(b_.expand(sums, logits->shape), logits));
    const NodeRef total = reduce(Op::ADD, reduce(Op::ADD, lost, 0), 1);
    return reshape(mul(total, 1.0 / static_cast<double>(size(logits, 0))), {});
  }
  /// 1 where an integer is the position along the last axis.
  NodeRef one_hot(const NodeRef& x, int64_t classes) {
    Sizes sizes = sizes_of(x), thin = sizes;
    sizes.push_back(classes);
    thin.push_back(1);
    const int last = static_cast<int>(sizes.size()) - 1;
    const NodeRef other =
        b_.binary(Op::CMPNE, spread(x, thin, sizes), b_.index(last, shape_of(sizes), DType::kI32));
    return b_.where(other, number(0, sizes), number(1, sizes));
  }
  Builder& builder() { return b_; }

  /// What follows a weight and its gradient; it may keep values of the weight's shape.
  using Update = std::function<NodeRef(const NodeRef& weight, const NodeRef& gradient)>;
  NodeRef optimizer_state(const NodeRef& like, const std::string& name,
                          const std::function<NodeRef(const NodeRef&)>& next) {
    const NodeRef was = state(name, Array::zeros(DType::kF32, sizes_of(like)));
    NodeRef now = next(was);
    optimizer_states_.push_back(now);
    return now;
  }

  /// The loss first, then what each state becomes, in the order of the params.
  Case finish(const NodeRef& loss, const Update& update) {
    const auto concatenated = [](auto first, const auto& second) {
      first.insert(first.end(), second.begin(), second.end());
      return first;
    };
    Graph forward;
    forward.params = concatenated(states_, data_);
    forward.outputs = {loss};
    forward.output_names = {"loss"};
    const Graph backward = gradient_graph(forward, 0, weights_, b_);
    // Step and weights; the state of the optimizer comes after them.
    std::vector<NodeRef> next{backward.outputs[0],
                              binary(Op::ADD, step_, number(1, {1}, DType::kI32))};
    for (size_t i = 1; i <= weights_.size(); ++i)
      next.push_back(update(NodeRef(states_[i]), backward.outputs[i]));
    Case out;
    out.graph.name = "step";
    out.graph.params = concatenated(states_, data_);
    out.graph.outputs = concatenated(std::move(next), optimizer_states_);
    out.graph.output_names = {"loss"};
    for (const NodeRef& param : states_)
      out.graph.output_names.push_back("next_" + param->as<ParamAttr>().name);
    out.inputs = concatenated(state_values_, data_values_);
    return out;
  }

  static int64_t size(const NodeRef& x, size_t axis) { return x->shape[axis].value(); }
  static Sizes sizes_of(const NodeRef& x) {
    Sizes out;
    for (const Dim& dim : x->shape) out.push_back(dim.value());
    return out;
  }

 private:
  NodeRef state(const std::string& name, Array value) {
    states_.push_back(b_.param(name, value.dtype, shape_of(value.shape)));
    state_values_.push_back(std::move(value));
    return states_.back();
  }

  Builder& b_;
  Random random_;
  NodeRef step_;
  std::vector<NodeRef> states_, data_, optimizer_states_;
  std::vector<Array> state_values_, data_values_;
  std::vector<std::string> weights_;
};

struct Examples {
  Array x, labels;
};

/// Points around a centre for each class. Three in sixteen have the label of another, so that no
/// loss comes near 0, of which an interval would say nothing.
Examples clouds(Random& random, Sizes sizes) {
  int64_t each = 1;
  for (const int64_t size : sizes) each *= size;
  std::vector<double> centres;
  for (int64_t i = 0; i < kClasses * each; ++i) centres.push_back(2 * random.unit() - 1);
  sizes.insert(sizes.begin(), kExamples);
  int64_t i = 0;
  Array x = Step::filled(sizes, [&] {
    const int64_t example = i / each, part = i++ % each;
    const auto centre = static_cast<size_t>(example % kClasses * each + part);
    return centres[centre] + random.unit() - 0.5;
  });
  int64_t n = 0;
  return {std::move(x), Step::filled(
                            {kExamples},
                            [&] {
                              const int64_t example = n++, round = example / kClasses;
                              return static_cast<double>(
                                  (example + (round % 4 == 0 ? round / 4 + 1 : 0)) % kClasses);
                            },
                            DType::kI32)};
}

Step::Update momentum(Step& s, double rate) {
  return [&s, rate, n = 0](const NodeRef& w, const NodeRef& g) mutable {
    const NodeRef v = s.optimizer_state(w, fmt::format("velocity{}", n++), [&](const NodeRef& was) {
      return s.add(s.mul(was, 0.9), g);
    });
    return s.sub(w, s.mul(v, rate));
  };
}

/// Kingma and Ba (2015), without the corrections of the first steps.
Step::Update adam(Step& s, double rate) {
  return [&s, rate, n = 0](const NodeRef& w, const NodeRef& g) mutable {
    const NodeRef mean = s.optimizer_state(w, fmt::format("mean{}", n), [&](const NodeRef& was) {
      return s.add(s.mul(was, 0.9), s.mul(g, 0.1));
    });
    const NodeRef square = s.optimizer_state(
        w, fmt::format("square{}", n++),
        [&](const NodeRef& was) { return s.add(s.mul(was, 0.99), s.mul(s.mul(g, g), 0.01)); });
    const NodeRef root = s.builder().unary(Op::SQRT, square);
    const NodeRef scale = s.builder().unary(Op::RECIP, s.add(root, s.like(root, 1e-3)));
    return s.sub(w, s.mul(s.mul(mean, scale), rate));
  };
}

Step::Update descent(Step& s, double rate) {
  return [&s, rate](const NodeRef& w, const NodeRef& g) { return s.sub(w, s.mul(g, rate)); };
}

Case perceptron(Step& s) {
  constexpr int64_t kIn = 12, kHidden = 16;
  Examples examples = clouds(s.random(), {kIn});
  const NodeRef w1 = s.weight("w1", {kIn, kHidden}, kIn, kHidden);
  const NodeRef b1 = s.weight("b1", {kHidden}, kHidden, kHidden);
  const NodeRef w2 = s.weight("w2", {kHidden, kClasses}, kHidden, kClasses);
  const NodeRef x = s.batch("x", std::move(examples.x));
  const NodeRef labels = s.batch("labels", std::move(examples.labels));
  const NodeRef h = s.relu(s.add(s.matmul(x, w1), s.spread(b1, {kBatch, kHidden})));
  return s.finish(s.cross_entropy(s.matmul(h, w2), s.one_hot(labels, kClasses)), momentum(s, 0.05));
}

Case convolution(Step& s) {
  constexpr int64_t kSide = 8, kChannels = 4, kKernel = 3, kOut = kSide - kKernel + 1;
  constexpr int64_t kPooled = kOut / 2, kFeatures = kChannels * kPooled * kPooled;
  Examples examples = clouds(s.random(), {kSide, kSide});
  const NodeRef kernel =
      s.weight("kernel", {kChannels, kKernel, kKernel}, kKernel * kKernel, kChannels);
  const NodeRef w = s.weight("w", {kFeatures, kClasses}, kFeatures, kClasses);
  const NodeRef x = s.batch("x", std::move(examples.x));
  const NodeRef labels = s.batch("labels", std::move(examples.labels));
  const Sizes images{kBatch, kChannels, kOut, kOut};
  NodeRef h = s.number(0, images);
  for (int64_t i = 0; i < kKernel; ++i)
    for (int64_t j = 0; j < kKernel; ++j) {
      const NodeRef seen = s.builder().shrink(x, {{0, kBatch}, {i, i + kOut}, {j, j + kOut}});
      const NodeRef by = s.builder().shrink(kernel, {{0, kChannels}, {i, i + 1}, {j, j + 1}});
      h = s.add(h, s.mul(s.spread(seen, {kBatch, 1, kOut, kOut}, images),
                         s.spread(by, {1, kChannels, 1, 1}, images)));
    }
  const NodeRef tiles = s.reshape(s.relu(h), {kBatch, kChannels, kPooled, 2, kPooled, 2});
  const NodeRef pooled = s.mul(s.reduce(Op::ADD, s.reduce(Op::ADD, tiles, 3), 5), 0.25);
  const NodeRef logits = s.matmul(s.reshape(pooled, {kBatch, kFeatures}), w);
  return s.finish(s.cross_entropy(logits, s.one_hot(labels, kClasses)), adam(s, 0.01));
}

/// Sequences that go up by one to three, of which each next token is to be told.
Case attention(Step& s) {
  constexpr int64_t kTokens = 8, kWords = 12, kWidth = 16, kRows = kBatch * kTokens;
  int64_t i = 0, begin = 0, by = 0;
  const Array sequences = Step::filled(
      {kExamples, kTokens + 1},
      [&] {
        if (i % (kTokens + 1) == 0) {
          begin = s.random().between(0, kWords - 1);
          by = s.random().between(1, 3);
        }
        return static_cast<double>((begin + by * (i++ % (kTokens + 1))) % kWords);
      },
      DType::kI32);
  const NodeRef words = s.weight("words", {kWords, kWidth}, kWords, kWidth);
  const NodeRef places = s.weight("places", {kTokens, kWidth}, kTokens, kWidth);
  const NodeRef wq = s.weight("wq", {kWidth, kWidth}, kWidth, kWidth);
  const NodeRef wk = s.weight("wk", {kWidth, kWidth}, kWidth, kWidth);
  const NodeRef wv = s.weight("wv", {kWidth, kWidth}, kWidth, kWidth);
  const NodeRef head = s.weight("head", {kWidth, kWords}, kWidth, kWords);
  const NodeRef rows = s.batch("sequences", sequences);
  Builder& b = s.builder();
  const NodeRef read = s.reshape(b.shrink(rows, {{0, kBatch}, {0, kTokens}}), {kRows});
  const NodeRef next = s.reshape(b.shrink(rows, {{0, kBatch}, {1, kTokens + 1}}), {kRows});
  const NodeRef at = s.spread(places, {1, kTokens, kWidth}, {kBatch, kTokens, kWidth});
  const NodeRef x = s.add(b.take(words, s.spread(read, {kRows, 1}, {kRows, kWidth}), 0),
                          s.reshape(at, {kRows, kWidth}));
  const Sizes pairs{kBatch, kTokens, kTokens, kWidth}, scores{kBatch, kTokens, kTokens};
  const auto asks = [&](const NodeRef& y) {
    return s.spread(y, {kBatch, kTokens, 1, kWidth}, pairs);
  };
  const auto asked = [&](const NodeRef& y) {
    return s.spread(y, {kBatch, 1, kTokens, kWidth}, pairs);
  };
  const NodeRef products = s.mul(asks(s.matmul(x, wq)), asked(s.matmul(x, wk)));
  const NodeRef score = s.mul(s.reshape(s.reduce(Op::ADD, products, 3), scores), 0.25);
  const NodeRef later = b.binary(Op::CMPLT, b.index(1, shape_of(scores), DType::kI32),
                                 b.index(2, shape_of(scores), DType::kI32));
  const NodeRef share = s.softmax(b.where(later, s.number(-30, scores), score));
  const NodeRef mixed =
      s.mul(s.spread(share, {kBatch, kTokens, kTokens, 1}, pairs), asked(s.matmul(x, wv)));
  const NodeRef y = s.add(x, s.reshape(s.reduce(Op::ADD, mixed, 2), {kRows, kWidth}));
  return s.finish(s.cross_entropy(s.matmul(y, head), s.one_hot(next, kWords)), descent(s, 0.5));
}

constexpr std::string_view kCounters = R"(
graph counters(%counts: i32[33], %mixed: i32[33], %marks: f32[17], %by: i32[33], %more: f32[17]) {
  %five = const 5 : i32[33]
  %scaled = mul %counts, %five
  %next_counts = add %scaled, %mixed
  %sum = add %counts, %by
  %next_mixed = xor %mixed, %sum
  %raised = add %marks, %more
  %most = const 64.0 : f32[17]
  %is_small = cmplt %raised, %most
  %down = const 128.0 : f32[17]
  %lower = sub %raised, %down
  %next_marks = where %is_small, %raised, %lower
  %high = reduce.max %next_marks, axes=[0]
  %loss = reshape %high : f32[]
  return %loss, %next_counts, %next_mixed, %next_marks
}
)";

/// Whole numbers that wrap, and quarters that stay small.
Case counters(Builder& builder, uint64_t seed) {
  Random random(seed);
  Case out;
  out.graph = parse_graph(kCounters, builder);
  for (const NodeRef& param : out.graph.params) {
    const bool is_float = param->dtype == DType::kF32;
    const Sizes sizes{param->shape[0].max()};
    out.inputs.push_back(Step::filled(
        sizes,
        [&] {
          const int64_t most = is_float ? 40 : 1000;
          return static_cast<double>(random.between(1, most)) / (is_float ? 4 : 1);
        },
        param->dtype));
  }
  return out;
}

using Model = Case (*)(Step&);
constexpr Model kModels[] = {perceptron, convolution, attention};

}  // namespace

Case make_training(std::string_view name, uint64_t seed, uint32_t steps, Builder& builder) {
  const auto found = std::ranges::find(kTrainingNames, name);
  TN_REQUIRE(found != std::end(kTrainingNames), "[train] expected a model of {}, got \"{}\"",
             fmt::join(kTrainingNames, ", "), name);
  const auto number = static_cast<uint64_t>(found - std::begin(kTrainingNames));
  const auto make = [&] {
    if (number == std::size(kModels)) return counters(builder, mix(seed, number));
    Step step(builder, mix(seed, number));
    return kModels[number](step);
  };
  Case out = make();
  out.seed = seed;
  out.index = number;
  out.cell = {fmt::format("train.{}", name), "f32", "-"};
  out.steps = steps;
  return out;
}

}  // namespace tenon::conformance
