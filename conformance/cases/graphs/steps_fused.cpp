// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps that kernels do otherwise than op by op: sums that follow a maximum, running results under
// a mask of positions, products that reductions compute again, statistics of rows, windows that
// overlap.
#include <limits>

#include "conformance/cases/graphs/steps.hpp"
#include "core/ir/scalar_op.hpp"

namespace tenon::conformance::graphs {
namespace {

/// Whether an element is shown, by its positions on two axes of a shape.
NodeRef mask_of(Grower& g, const Shape& shape, int of, int to) {
  constexpr DType kDtypes[] = {DType::kI64, DType::kI32, DType::kI16, DType::kI8};
  Builder& b = g.build();
  Choices& choices = g.choices();
  const DType dtype = kDtypes[choices.chance(20) ? choices.below(4) : choices.below(2)];
  NodeRef x = b.index(of, shape, dtype), y = b.index(to, shape, dtype);
  const auto moved = [&](const NodeRef& v) {
    const auto by = static_cast<double>(choices.between(1, choices.chance(25) ? 30 : 6));
    const Op op = choices.chance(50) ? Op::SUB : Op::ADD;
    return b.binary(op, v, b.constant(Scalar::of(dtype, by), shape));
  };
  if (choices.chance(25)) x = moved(x);
  const auto turned = [&](const NodeRef& v) {
    return b.binary(Op::XOR, v, b.constant(Scalar::of_int(DType::kBool, 1), shape));
  };
  const auto ahead = [&] {  // of all of them
    return b.constant(Scalar::of(dtype, static_cast<double>(choices.between(0, 30))), shape);
  };
  switch (choices.below(9)) {
    case 0:  // to the left of it
      return b.binary(Op::CMPLT, y, x);
    case 1:
      return b.binary(Op::CMPLT, x, y);
    case 2:  // and it, in two spellings
      return turned(b.binary(Op::CMPLT, x, y));
    case 3:
      return b.binary(Op::OR, b.binary(Op::CMPLT, y, x), b.binary(Op::CMPEQ, x, y));
    case 4:  // a window
      return b.binary(Op::AND, b.binary(Op::CMPLT, moved(x), y), turned(b.binary(Op::CMPLT, x, y)));
    case 5:
      return b.binary(Op::OR, b.binary(Op::CMPLT, y, moved(x)), b.binary(Op::CMPLT, x, moved(y)));
    case 6:
      return b.binary(choices.chance(50) ? Op::AND : Op::OR, b.binary(Op::CMPLT, ahead(), y),
                      b.binary(Op::CMPLT, moved(x), y));
    case 7:
      return b.binary(Op::CMPLT, y, ahead());
    default:
      return b.binary(choices.chance(50) ? Op::CMPEQ : Op::CMPNE, x, y);
  }
}

/// Elements up to the own one, or from it on.
NodeRef mask_of_run(Grower& g, const Shape& shape, int of, int to) {
  Builder& b = g.build();
  const bool turned = g.choices().chance(50);
  const NodeRef x = b.index(turned ? to : of, shape, DType::kI32);
  const NodeRef y = b.index(turned ? of : to, shape, DType::kI32);
  if (g.choices().chance(50))
    return b.binary(Op::OR, b.binary(Op::CMPLT, y, x), b.binary(Op::CMPEQ, x, y));
  return b.binary(Op::XOR, b.binary(Op::CMPLT, x, y),
                  b.constant(Scalar::of_int(DType::kBool, 1), shape));
}

NodeRef chosen(Grower& g, const NodeRef& shown, const NodeRef& x, const Scalar& fill) {
  Builder& b = g.build();
  const NodeRef other = b.constant(fill, x->shape);
  if (!g.choices().chance(30)) return b.where(shown, x, other);
  const NodeRef one = b.constant(Scalar::of_int(DType::kBool, 1), x->shape);
  return b.where(b.binary(Op::XOR, shown, one), other, x);
}

/// One NaN says as much as many, and hides less.
constexpr Domain kFactors{.low = -1, .high = 2, .summed = true};

NodeRef across(Grower& g, const NodeRef& x, const Shape& ones, const Shape& whole) {
  return g.build().expand(g.build().reshape(x, ones), whole);
}

/// softmax(f(q k^T)) v of some heads, as models spell it, each part now and then otherwise.
class Attention {
 public:
  Attention(Grower& g, const Dim& heads, const Dim& rows, const Dim& keys)
      : g_(g), heads_(heads), rows_(rows), keys_(keys), scores_{heads, rows, keys} {}

  NodeRef scores(const Dim& width) {
    const Shape whole{heads_, rows_, keys_, width};
    const NodeRef q = param({heads_, rows_, width}), k = of_keys(width);
    const NodeRef terms = b_.binary(Op::MUL, across(g_, q, {heads_, rows_, Dim(1), width}, whole),
                                    across(g_, k, {heads_, Dim(1), keys_, width}, whole));
    NodeRef x = b_.reshape(b_.reduce(Op::ADD, terms, {3}), scores_);
    if (c_.chance(40)) x = b_.binary(Op::MUL, x, number(0.25));
    return x;
  }

  NodeRef masked(NodeRef x) {
    if (!c_.chance(60)) return x;
    shown_ = c_.chance(85) ? mask_of(g_, scores_, 1, 2) : g_.param(DType::kBool, scores_).node;
    constexpr double kFills[] = {-1000, -60000, -std::numeric_limits<double>::infinity(), 0, 2};
    return chosen(g_, shown_, x, Scalar::of(dtype_, kFills[c_.below(c_.chance(20) ? 5 : 3)]));
  }

  /// Of a softmax, or what looks like one.
  NodeRef weights(const NodeRef& x, const NodeRef& above) {
    const NodeRef top = statistic(Op::MAX, above);
    NodeRef exponent = b_.binary(Op::SUB, x, top);
    if (c_.chance(25)) exponent = b_.binary(Op::MUL, exponent, number(c_.chance(20) ? -0.25 : 0.5));
    NodeRef w = b_.unary(c_.chance(20) ? Op::EXP2 : Op::EXP, exponent);
    const NodeRef sum = statistic(Op::ADD, w);
    switch (c_.below(10)) {
      case 8:
        w = b_.binary(Op::MUL, w, expanded(param({heads_, rows_, Dim(1)})));
        break;
      case 9:
        w = c_.chance(50) ? b_.binary(Op::FDIV, sum, w) : b_.binary(Op::MUL, w, sum);
        break;
      default:
        w = b_.binary(Op::FDIV, w, sum);
    }
    if (shown_ && c_.chance(60)) {
      const NodeRef by = c_.chance(85) ? shown_ : mask_of(g_, scores_, 1, 2);
      w = chosen(g_, by, w, Scalar::of(dtype_, c_.chance(92) ? 0 : 1));
    }
    if (c_.chance(12)) w = b_.binary(Op::MUL, w, c_.chance(50) ? x : param(scores_));
    if (c_.chance(20) && dtype_ == DType::kF32) {
      const DType narrow = c_.chance(50) ? DType::kBF16 : DType::kF16;
      w = b_.cast(b_.cast(w, narrow), dtype_);
    }
    return w;
  }

  NodeRef values(const NodeRef& weights, const Dim& size) {
    const Shape whole{heads_, rows_, keys_, size};
    const NodeRef w = across(g_, weights, {heads_, rows_, keys_, Dim(1)}, whole);
    const NodeRef v = across(g_, of_keys(size), {heads_, Dim(1), keys_, size}, whole);
    const NodeRef terms = b_.binary(c_.chance(4) ? Op::FDIV : Op::MUL, w, v);
    return b_.reshape(b_.reduce(Op::ADD, terms, {2}), {heads_, rows_, size});
  }

 private:
  NodeRef param(const Shape& shape) { return g_.param(dtype_, shape, kFactors).node; }
  /// Of each row; others than the weights may want it.
  NodeRef statistic(Op op, const NodeRef& x) {
    const NodeRef rows = b_.reduce(op, x, {2});
    if (c_.chance(6)) g_.add({rows, -100, 100});
    return expanded(rows);
  }
  /// Now and then of one head that serves all.
  NodeRef of_keys(const Dim& size) {
    const Shape whole{heads_, keys_, size};
    return c_.chance(20) ? b_.expand(param({Dim(1), keys_, size}), whole) : param(whole);
  }
  NodeRef number(double value) { return b_.constant(Scalar::of(dtype_, value), scores_); }
  NodeRef expanded(const NodeRef& x) { return b_.expand(x, scores_); }

  Grower& g_;
  Builder& b_ = g_.build();
  Choices& c_ = g_.choices();
  const DType dtype_ = g_.main_float();
  const Dim heads_, rows_, keys_;
  const Shape scores_;
  NodeRef shown_;
};

}  // namespace

Entry grow_attention(Grower& g) {
  Choices& c = g.choices();
  const auto size = [&](int64_t most) { return Dim(c.between(1, most)); };
  const auto positions = [&] {
    if (c.chance(15)) return g.draw_dim();
    return c.chance(20) ? Dim(c.between(64, 140)) : size(40);
  };
  const Dim heads = c.chance(40) ? size(4) : Dim(1), rows = positions();
  const Dim keys = c.chance(20) ? rows : positions();
  const Dim width = size(8), columns = c.chance(70) ? size(20) : Dim(1);
  const auto fits = [&](const Dim& last) { return g.fits({heads, rows, keys, last}); };
  if (!fits(width) || !fits(columns) || keys.min() < 1) return grow_reduce(g);
  Attention attention(g, heads, rows, keys);
  const NodeRef x = attention.masked(attention.scores(width));
  const NodeRef above = c.chance(6) ? attention.scores(width) : x;
  const NodeRef weights = attention.weights(x, above);
  NodeRef y = attention.values(weights, columns);
  if (c.chance(20)) y = g.build().binary(Op::ADD, y, attention.values(weights, columns));
  if (c.chance(8)) g.add({weights, 0, 1});
  return {y, -100, 100};
}

Entry grow_running(Grower& g) {
  Choices& c = g.choices();
  Builder& b = g.build();
  constexpr Op kOps[] = {Op::ADD, Op::ADD, Op::MAX, Op::MIN, Op::MUL};
  const DType dtype = c.chance(70) ? g.main_float() : g.main_int();
  const Dim n = c.chance(10) ? g.draw_dim() : Dim(c.between(1, 40));
  Shape shape{Dim(c.chance(75) ? c.between(2, 4) : 1), n, Dim(c.chance(50) ? c.between(1, 20) : 1)};
  const Shape whole{shape[0], n, n, shape[2]};
  if (!g.fits(whole)) return grow_reduce(g);
  const Entry x = g.param(dtype, shape,
                          is_float(dtype) ? Domain{.low = -1.5, .high = 1.5, .summed = true}
                                          : Domain{.low = -20, .high = 20});
  const auto mask = [&] {
    return c.chance(75) ? mask_of_run(g, whole, 1, 2) : mask_of(g, whole, 1, 2);
  };
  const auto run = [&](const Op op, const NodeRef& shown) {
    NodeRef terms = across(g, x.node, {shape[0], Dim(1), n, shape[2]}, whole);
    if (c.chance(20)) terms = b.binary(Op::MUL, terms, terms);
    if (c.chance(8))
      terms = b.binary(Op::ADD, terms, b.cast(b.index(1, whole, DType::kI32), dtype));
    const bool is_other = c.chance(8);
    const Scalar fill = is_other ? Scalar::of(dtype, 1) : identity(op, dtype);
    terms = chosen(g, shown, terms, fill);
    DType accumulator = DType::kVoid;
    if (is_small_float(dtype) && (op == Op::ADD || op == Op::MUL)) accumulator = DType::kF32;
    return b.reshape(b.reduce(op, terms, {2}, accumulator), shape);
  };
  const NodeRef shown = mask();
  NodeRef y = run(c.pick(kOps), shown);
  if (c.chance(30)) y = b.binary(Op::ADD, y, run(c.pick(kOps), c.chance(70) ? shown : mask()));
  if (!is_float(dtype)) return full_range(y);
  return {y, -20000, 20000};
}

Entry grow_recomputed(Grower& g) {
  Choices& c = g.choices();
  Builder& b = g.build();
  const DType dtype = g.main_float();
  // Blocks of recipes are of 64; of random lists, of a few.
  const bool is_long = c.chance(25), turned = c.chance(50);
  const Dim some(is_long ? c.between(8, 14) : c.between(12, 36));
  const Dim others(is_long ? c.between(64, 100) : c.between(12, 36));
  const Dim heads(c.chance(30) ? 2 : 1), rows = turned ? some : others,
                                         keys = turned ? others : some;
  const Dim width(c.between(1, 3)), columns(c.between(1, 4));
  const Shape scores{heads, rows, keys};
  if (!g.fits({heads, rows, keys, Dim(4)})) return grow_reduce(g);
  const auto param = [&](const Shape& shape) { return g.param(dtype, shape, kFactors).node; };
  const auto product = [&] {
    const Shape whole{heads, rows, keys, width};
    const NodeRef terms = b.binary(
        Op::MUL, across(g, param({heads, rows, width}), {heads, rows, Dim(1), width}, whole),
        across(g, param({heads, keys, width}), {heads, Dim(1), keys, width}, whole));
    return b.reshape(b.reduce(Op::ADD, terms, {3}), scores);
  };
  NodeRef x = product();
  if (c.chance(30)) x = b.binary(c.chance(50) ? Op::MUL : Op::ADD, x, product());
  if (c.chance(40)) x = b.binary(Op::MUL, x, b.expand(param({heads, rows, Dim(1)}), scores));
  if (c.chance(30))
    x = b.unary(Op::EXP2, b.binary(Op::MUL, x, b.constant(Scalar::of(dtype, 0.125), scores)));
  if (c.chance(60))
    x = chosen(g, mask_of(g, scores, 1, 2), x, Scalar::of(dtype, c.chance(92) ? 0 : 1));
  constexpr Op kOps[] = {Op::ADD, Op::ADD, Op::ADD, Op::MAX};
  const auto use = [&](int over) {
    const int kept = 3 - over;
    Shape ones{heads, rows, keys, Dim(1)}, whole{heads, rows, keys, columns}, result = scores;
    if (c.chance(30)) {
      result[static_cast<size_t>(over)] = Dim(1);
      return b.reduce(c.pick(kOps), x, {over});
    }
    Shape other{heads, Dim(1), Dim(1), columns};
    other[static_cast<size_t>(over)] = scores[static_cast<size_t>(over)];
    const NodeRef v = b.expand(param(other), whole);
    const NodeRef sum = b.reduce(Op::ADD, b.binary(Op::MUL, across(g, x, ones, whole), v), {over});
    return b.reshape(sum, {heads, scores[static_cast<size_t>(kept)], columns});
  };
  for (int64_t more = c.between(1, 2); more > 0; --more)
    g.add({use(c.chance(50) ? 1 : 2), -20000, 20000});
  return {use(c.chance(50) ? 1 : 2), -20000, 20000};
}

Entry grow_rows(Grower& g) {
  Choices& c = g.choices();
  Builder& b = g.build();
  const DType dtype = g.main_float(), sums = is_small_float(dtype) ? DType::kF32 : DType::kVoid;
  const Shape shape{Dim(c.between(1, 12)), Dim(c.between(1, c.chance(30) ? 140 : 40))};
  const size_t axis = c.chance(75) ? 1 : 0;
  Shape row = shape, column = shape;
  row[axis] = column[1 - axis] = Dim(1);
  const auto param = [&](const Shape& of) {
    return b.expand(g.param(dtype, of, kFactors).node, shape);
  };
  const auto number = [&](double v) { return b.constant(Scalar::of(dtype, v), shape); };
  const auto of_rows = [&](Op op, const NodeRef& x) {
    const DType accumulator = op == Op::ADD ? sums : DType::kVoid;
    const NodeRef rows = b.reduce(op, x, {static_cast<int>(axis)}, accumulator);
    if (c.chance(10)) g.add({rows, -1000, 1000});
    return b.expand(rows, shape);
  };
  const NodeRef share = number(1 / static_cast<double>(shape[axis].value()));
  NodeRef x = param(shape), y;
  if (c.chance(30)) x = b.binary(Op::MUL, x, param(c.chance(50) ? row : column));
  if (c.chance(30)) x = chosen(g, mask_of(g, shape, 0, 1), x, Scalar::of(dtype, -1000));
  const uint64_t kind = c.below(4);
  if (kind < 2) {  // a norm, of what is centred or not
    if (kind == 0) x = b.binary(Op::SUB, x, b.binary(Op::MUL, of_rows(Op::ADD, x), share));
    const NodeRef squares = of_rows(Op::ADD, b.binary(Op::MUL, x, x));
    const NodeRef spread = b.binary(Op::ADD, b.binary(Op::MUL, squares, share), number(0.25));
    y = c.chance(50) ? b.binary(Op::MUL, x, b.unary(Op::RECIP, b.unary(Op::SQRT, spread)))
                     : b.binary(Op::FDIV, x, b.unary(Op::SQRT, spread));
  } else {  // a softmax, or its logarithm
    const NodeRef less = b.binary(Op::SUB, x, of_rows(Op::MAX, x)), power = b.unary(Op::EXP, less);
    const NodeRef sum = of_rows(Op::ADD, power);
    y = kind == 2 ? b.binary(Op::FDIV, power, sum) : b.binary(Op::SUB, less, b.unary(Op::LN, sum));
  }
  if (c.chance(50)) y = b.binary(Op::MUL, y, param(column));
  if (c.chance(40)) {  // as a gradient goes back
    const NodeRef seed = param(shape), mean = of_rows(Op::ADD, b.binary(Op::MUL, seed, y));
    y = b.binary(Op::MUL, y, b.binary(Op::SUB, seed, mean));
  }
  if (c.chance(40)) {
    const NodeRef terms = b.binary(Op::MUL, y, param(shape));
    g.add({b.reduce(Op::ADD, terms, {static_cast<int>(1 - axis)}, sums), -20000, 20000});
  }
  return {y, -20000, 20000};
}

Entry grow_windows(Grower& g) {
  Choices& c = g.choices();
  Builder& b = g.build();
  const DType dtype = g.main_float();
  const int64_t window = c.between(1, 5), dilation = c.chance(30) ? c.between(2, 3) : 1;
  const int64_t before = c.chance(50) ? c.between(0, 6) : 0, own = c.between(8, 60);
  const Dim inputs(c.between(1, 4)), outputs(c.between(1, 12));
  const int64_t length = own + 2 * before, reach = (window - 1) * dilation;
  if (reach >= length) return grow_reduce(g);
  NodeRef x = g.param(dtype, {inputs, Dim(own)}, kFactors).node;
  if (before > 0) x = b.pad(x, {{Dim(0), Dim(0)}, {Dim(before), Dim(before)}}, zero(dtype));
  // Rows of copies, cut again into rows that are longer by the dilation: each begins that much
  // later.
  const int64_t count = length - reach, pitch = length + dilation;
  x = b.expand(b.reshape(x, {inputs, Dim(1), Dim(length)}), {inputs, Dim(window), Dim(length)});
  x = b.pad(b.reshape(x, {inputs, Dim(window * length)}),
            {{Dim(0), Dim(0)}, {Dim(0), Dim(window * dilation)}}, zero(dtype));
  x = b.shrink(b.reshape(x, {inputs, Dim(window), Dim(pitch)}),
               {{Dim(0), inputs}, {Dim(0), Dim(window)}, {Dim(0), Dim(count)}});
  const int64_t stride = c.chance(30) ? c.between(2, 3) : 1;
  Dim places(count);
  if (stride > 1 && count >= stride) {
    places = Dim(count / stride);
    x = b.shrink(x, {{Dim(0), inputs}, {Dim(0), Dim(window)}, {Dim(0), places * stride}});
    x = b.reshape(x, {inputs, Dim(window), places, Dim(stride)});
    x = b.reshape(
        b.shrink(x, {{Dim(0), inputs}, {Dim(0), Dim(window)}, {Dim(0), places}, {Dim(0), Dim(1)}}),
        {inputs, Dim(window), places});
  }
  const Shape whole{outputs, inputs, Dim(window), places};
  if (!g.fits(whole)) return grow_reduce(g);
  const NodeRef w = g.param(dtype, {outputs, inputs, Dim(window)}, kFactors).node;
  const NodeRef terms =
      b.binary(Op::MUL, across(g, x, {Dim(1), inputs, Dim(window), places}, whole),
               across(g, w, {outputs, inputs, Dim(window), Dim(1)}, whole));
  return {b.reshape(b.reduce(Op::ADD, terms, {1, 2}), {outputs, places}), -100, 100};
}

}  // namespace tenon::conformance::graphs
