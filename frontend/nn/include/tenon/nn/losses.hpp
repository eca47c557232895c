// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses: how far predictions are from targets. Definitions and defaults are PyTorch's.
//
// Shapes are those of the prediction, and the target's broadcast to it, unless a line says
// otherwise. f16 and bf16 are computed in f32. Shapes that do not fit throw kInvalid.
#pragma once

#include <optional>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon::nn {

/// Of the losses of all elements: their mean, their sum, or each as it is.
enum class Reduction : uint8_t { kMean, kSum, kNone };

TENON_API Tensor l1_loss(const Tensor& prediction, const Tensor& target,
                         Reduction reduction = Reduction::kMean);  ///< |p - t|
TENON_API Tensor mse_loss(const Tensor& prediction, const Tensor& target,
                          Reduction reduction = Reduction::kMean);  ///< (p - t)^2
/// d^2 / 2 where |d| = |p - t| is at most delta, delta (|d| - delta / 2) beyond: Huber, 1964.
TENON_API Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta = 1,
                            Reduction reduction = Reduction::kMean);
/// Huber's over beta: slope 1 beyond it. L1 where beta is 0.
TENON_API Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, double beta = 1,
                                Reduction reduction = Reduction::kMean);

struct ClassOptions {
  std::optional<Tensor> weight = {};  ///< of each class [classes]; a mean divides by their sum
  int64_t ignore = -100;              ///< a label that does not count, nor for the mean
  double smoothing = 0;  ///< the part of each target that all classes share: Szegedy et al., 2015
  Reduction reduction = Reduction::kMean;
};

/// -log softmax(logits) at the label. logits [n, classes, ..] or [classes], labels: integers
/// without the axis of classes. Or targets of a float dtype in the shape of logits: the sum over
/// classes of -target log softmax, 0 where the target is 0. A label that is no class, nor to be
/// ignored, makes NaN. All ignored: NaN, as 0/0.
TENON_API Tensor cross_entropy(const Tensor& logits, const Tensor& labels,
                               const ClassOptions& options = {});
/// The same of logarithms of chances in place of logits.
TENON_API Tensor nll_loss(const Tensor& log_chances, const Tensor& labels,
                          const ClassOptions& options = {});
/// target (ln target - log_chances), 0 where the target is 0: Kullback and Leibler, 1951. The mean
/// is over elements; divide a sum by the batch for that of the definition.
TENON_API Tensor kl_divergence(const Tensor& log_chances, const Tensor& target,
                               Reduction reduction = Reduction::kMean);
/// -(t ln p + (1 - t) ln(1 - p)), logarithms not below -100.
TENON_API Tensor binary_cross_entropy(const Tensor& chances, const Tensor& target,
                                      Reduction reduction = Reduction::kMean);
/// The same of p = sigmoid(logits), finite for all that are finite; of an infinite one 0 where the
/// target is what it says, else Inf. `positive` weighs the first term.
TENON_API Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                                  const std::optional<Tensor>& positive = {},
                                                  Reduction reduction = Reduction::kMean);
/// max(0, margin - p t) of targets -1 and 1.
TENON_API Tensor hinge_loss(const Tensor& prediction, const Tensor& target, double margin = 1,
                            Reduction reduction = Reduction::kMean);
/// a . b / (max(|a|, epsilon) max(|b|, epsilon)) along an axis, which goes.
TENON_API Tensor cosine_similarity(const Tensor& a, const Tensor& b, int axis = -1,
                                   double epsilon = 1e-8);
/// 1 - cos(a, b) where the target [n] is 1, max(0, cos - margin) where it is -1. a, b [n, m].
TENON_API Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                                       double margin = 0, Reduction reduction = Reduction::kMean);
/// max(0, |anchor - positive| - |anchor - negative| + margin), lengths along the last axis, of the
/// difference + 1e-6.
TENON_API Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive,
                                     const Tensor& negative, double margin = 1,
                                     Reduction reduction = Reduction::kMean);

struct CtcOptions {
  int64_t blank = 0;           ///< the class that says nothing
  bool zero_infinity = false;  ///< 0 for targets that no path of that length spells
  /// The mean is of losses over the lengths of their targets.
  Reduction reduction = Reduction::kMean;
};

/// -log of the chance that a sequence spells a target, over all alignments, in log space: Graves et
/// al., 2006. log_chances [length, n, classes], as of log_softmax; targets [n, longest], of which
/// the first target_lengths [n] count; input_lengths [n] of the sequences. A target that is no
/// class or a blank, and lengths out of range, make NaN. No step spells an empty target, and no
/// other.
TENON_API Tensor ctc_loss(const Tensor& log_chances, const Tensor& targets,
                          const Tensor& input_lengths, const Tensor& target_lengths,
                          const CtcOptions& options = {});

}  // namespace tenon::nn
