// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/losses.hpp"

#include <fmt/ranges.h>

#include <limits>

#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/nn/shape_text.hpp"
#include "frontend/nn/wide.hpp"
#include "tenon/gradient.hpp"
#include "tenon/make.hpp"
#include "tenon/promote.hpp"

namespace tenon::nn {
namespace {

std::string typed_shape(const Tensor& x) {
  return std::string(dtype_name(x.dtype())) + shape_text(x);
}

Tensor reduced(const Tensor& losses, DType dtype, Reduction reduction) {
  const Tensor out = reduction == Reduction::kMean  ? losses.mean()
                     : reduction == Reduction::kSum ? losses.sum()
                                                    : losses;
  return out.astype(dtype);
}

DType dtype_of(const Tensor& prediction) {
  return is_float(prediction.dtype()) ? prediction.dtype() : DType::kF32;
}

/// Prediction and target, in one shape.
struct Pair {
  Pair(const char* op, const Tensor& p, const Tensor& t)
      : prediction(wide(p)), target(wide(t)), dtype(dtype_of(p)) {
    bool fits = t.rank() <= p.rank();
    for (int i = 1; i <= t.rank() && fits; ++i) {
      const Size& size = t.sizes()[static_cast<size_t>(t.rank() - i)];
      fits = size == Size(1) || size == p.sizes()[static_cast<size_t>(p.rank() - i)];
    }
    TN_REQUIRE(fits, "[{}] expected a target that broadcasts to the prediction, {}, got {}", op,
               typed_shape(p), typed_shape(t));
  }
  Tensor prediction, target;
  DType dtype;
};

/// weight * x, where what weighs nothing counts nothing, however far it is.
Tensor weighed(const Tensor& weight, const Tensor& x) {
  return weight * where((weight == 0) & isinf(x), 0.0, x);
}

/// Sum over the classes of what each target says, in the shape of the labels.
struct Targets {
  Tensor losses, weights;
};

int class_axis(const char* op, const Tensor& x) {
  TN_REQUIRE(x.rank() > 0, "[{}] expected an axis of classes, got rank 0", op);
  return x.rank() == 1 ? 0 : 1;
}

/// [classes] beside the other axes.
Tensor along(const Tensor& of, int axis, int rank) {
  std::vector<Size> shape(static_cast<size_t>(rank), Size(1));
  shape[static_cast<size_t>(axis)] = of.sizes()[0];
  return of.reshape(shape);
}

Targets of_labels(const char* op, const Tensor& log_chances, const Tensor& labels,
                  const ClassOptions& options) {
  const int axis = class_axis(op, log_chances), rank = log_chances.rank();
  std::vector<Size> shape = log_chances.sizes().vector();
  shape.erase(shape.begin() + axis);
  TN_REQUIRE(
      labels.sizes() == Sizes(shape) && !is_float(labels.dtype()) && labels.dtype() != DType::kBool,
      "[{}] expected integer labels in the shape of {} without axis {}, got {}", op,
      typed_shape(log_chances), axis, typed_shape(labels));
  const Size classes = log_chances.sizes()[static_cast<size_t>(axis)];
  // One of u64 that i64 does not hold is no class either.
  const bool is_u64 = labels.dtype() == DType::kU64;
  const Tensor label = (is_u64 ? labels.minimum(INT64_MAX) : labels).astype(DType::kI64);
  const auto of_label = [&](const Tensor& x) {
    return x.gather(axis, label.expand_dims(axis)).squeeze(axis);
  };
  const Tensor is_class = (label >= 0) & (label < from_size(classes, labels.context()));
  const Tensor counts = label != options.ignore;
  const Tensor zero = tenon::zeros({}, log_chances.dtype(), labels.context());
  Tensor weight = tenon::ones({}, log_chances.dtype(), labels.context());
  Tensor losses = -of_label(log_chances), label_weights = where(is_class, weight, zero);
  if (options.weight) {
    TN_REQUIRE(options.weight->sizes() == Sizes{classes},
               "[{}] expected a weight for each of {} classes, got {}", op, classes.text(),
               typed_shape(*options.weight));
    weight = along(options.weight->astype(log_chances.dtype()), axis, rank);
    label_weights = of_label(weight.broadcast_to(log_chances.sizes()));
    losses = weighed(label_weights, losses);
  }
  if (options.smoothing > 0) {
    const Tensor n = from_size(classes, labels.context()).astype(log_chances.dtype());
    losses = losses * (1 - options.smoothing) +
             weighed(weight, -log_chances).sum(axis) * (options.smoothing / n);
  }
  const Tensor nan =
      full({}, std::numeric_limits<double>::quiet_NaN(), log_chances.dtype(), labels.context());
  losses = where(counts, where(is_class, losses, nan), zero);
  return {losses, where(counts, label_weights, zero)};
}

Tensor reduced(const Targets& targets, DType dtype, Reduction reduction) {
  if (reduction == Reduction::kMean)
    return (targets.losses.sum() / targets.weights.sum()).astype(dtype);
  return reduced(targets.losses, dtype, reduction);
}

void check_smoothing(const char* op, double smoothing) {
  TN_REQUIRE(0 <= smoothing && smoothing <= 1, "[{}] expected a smoothing of 0 to 1, got {}", op,
             smoothing);
}

/// Of targets that are chances themselves.
Tensor of_chances(const Tensor& log_chances, const Tensor& chances, DType dtype,
                  const ClassOptions& options) {
  const char* const op = "nn.cross_entropy";
  const int axis = class_axis(op, log_chances), rank = log_chances.rank();
  TN_REQUIRE(chances.sizes() == log_chances.sizes(),
             "[{}] expected targets of a float dtype in the shape of {}, got {}", op,
             typed_shape(log_chances), typed_shape(chances));
  Tensor target = wide(chances);
  const Size classes = log_chances.sizes()[static_cast<size_t>(axis)];
  if (options.smoothing > 0) {
    const Tensor n = from_size(classes, chances.context()).astype(target.dtype());
    target = target * (1 - options.smoothing) + options.smoothing / n;
  }
  Tensor losses = weighed(target, -log_chances);
  if (options.weight) losses = weighed(along(wide(*options.weight), axis, rank), losses);
  return reduced(losses.sum(axis), dtype, options.reduction);
}

Tensor norm_of_rows(const Tensor& x) { return norm(x, 2, {-1}); }

}  // namespace

Tensor l1_loss(const Tensor& prediction, const Tensor& target, Reduction reduction) {
  const Pair of("nn.l1_loss", prediction, target);
  return reduced((of.prediction - of.target).abs(), of.dtype, reduction);
}

Tensor mse_loss(const Tensor& prediction, const Tensor& target, Reduction reduction) {
  const Pair of("nn.mse_loss", prediction, target);
  return reduced((of.prediction - of.target).square(), of.dtype, reduction);
}

Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta,
                  Reduction reduction) {
  TN_REQUIRE(delta > 0, "[nn.huber_loss] expected delta above 0, got {}", delta);
  const Pair of("nn.huber_loss", prediction, target);
  const Tensor d = (of.prediction - of.target).abs();
  const Tensor is_near = d <= delta, near = where(is_near, d, 0.0);  // no square of what is far
  return reduced(where(is_near, near.square() * 0.5, (d - 0.5 * delta) * delta), of.dtype,
                 reduction);
}

Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, double beta,
                      Reduction reduction) {
  TN_REQUIRE(beta >= 0, "[nn.smooth_l1_loss] expected beta of 0 or more, got {}", beta);
  if (beta == 0) return l1_loss(prediction, target, reduction);
  return huber_loss(prediction, target, beta, reduction) / beta;
}

Tensor nll_loss(const Tensor& log_chances, const Tensor& labels, const ClassOptions& options) {
  check_smoothing("nn.nll_loss", options.smoothing);
  return reduced(of_labels("nn.nll_loss", wide(log_chances), labels, options),
                 dtype_of(log_chances), options.reduction);
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const ClassOptions& options) {
  const char* const op = "nn.cross_entropy";
  check_smoothing(op, options.smoothing);
  const Tensor log_chances = log_softmax(wide(logits), {class_axis(op, logits)});
  if (is_float(labels.dtype())) return of_chances(log_chances, labels, dtype_of(logits), options);
  return reduced(of_labels(op, log_chances, labels, options), dtype_of(logits), options.reduction);
}

Tensor kl_divergence(const Tensor& log_chances, const Tensor& target, Reduction reduction) {
  const Pair of("nn.kl_divergence", log_chances, target);
  return reduced(xlogy(of.target, of.target) - weighed(of.target, of.prediction), of.dtype,
                 reduction);
}

Tensor binary_cross_entropy(const Tensor& chances, const Tensor& target, Reduction reduction) {
  const Pair of("nn.binary_cross_entropy", chances, target);
  const Tensor yes = of.prediction.log().maximum(-100.0);
  const Tensor no = log1p(-of.prediction).maximum(-100.0);
  return reduced(-(of.target * yes + (1 - of.target) * no), of.dtype, reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        const std::optional<Tensor>& positive,
                                        Reduction reduction) {
  const Pair of("nn.binary_cross_entropy_with_logits", logits, target);
  const Tensor yes = positive ? of.target * wide(*positive) : of.target;
  const Tensor& x = of.prediction;
  return reduced(weighed(yes, softplus(-x)) + weighed(1 - of.target, softplus(x)), of.dtype,
                 reduction);
}

Tensor hinge_loss(const Tensor& prediction, const Tensor& target, double margin,
                  Reduction reduction) {
  const Pair of("nn.hinge_loss", prediction, target);
  return reduced((margin - of.prediction * of.target).relu(), of.dtype, reduction);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b, int axis, double epsilon) {
  return as_op("nn.cosine_similarity", [&] {
    // Parts of long vectors first become at most 1: their length may be beyond the dtype.
    const auto unit = [&](const Tensor& v) {
      const Tensor most = stop_gradient(v.abs().max(axis, /*keepdims=*/true).maximum(1.0));
      const Tensor scale = where(isfinite(most), most, 1.0), part = v / scale;
      return part / norm(part, 2, {axis}, /*keepdims=*/true).maximum(epsilon / scale);
    };
    return (unit(wide(a)) * unit(wide(b))).sum(axis).astype(dtype_of(a));
  });
}

Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin,
                             Reduction reduction) {
  const Tensor cos = cosine_similarity(wide(a), wide(b));
  const Pair of("nn.cosine_embedding_loss", cos, target);
  return reduced(where(of.target > 0, 1 - cos, (cos - margin).relu()), dtype_of(a), reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, Reduction reduction) {
  const Tensor from = wide(anchor);
  const Tensor near = norm_of_rows(from - wide(positive) + 1e-6);
  const Tensor far = norm_of_rows(from - wide(negative) + 1e-6);
  return reduced((near - far + margin).relu(), dtype_of(anchor), reduction);
}

}  // namespace tenon::nn
