// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Connectionist temporal classification.
#include <limits>

#include "core/support/error.hpp"
#include "frontend/nn/shape_text.hpp"
#include "frontend/nn/wide.hpp"
#include "tenon/control_flow.hpp"
#include "tenon/make.hpp"
#include "tenon/move.hpp"
#include "tenon/nn/losses.hpp"

namespace tenon::nn {
namespace {

constexpr double kNone = -1e30;  ///< the log of no chance, that differences stay finite with

/// log(e^a + e^b + e^c)
Tensor log_sum(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Tensor most = a.maximum(b).maximum(c);
  return most + ((a - most).exp() + (b - most).exp() + (c - most).exp()).log();
}

/// Places along the last axis move to the right by so many.
Tensor moved(const Tensor& x, int64_t by, Number fill) {
  return x.pad({{0, 0}, {by, 0}}, fill).slice({Slice{}, Slice{0, size_at(x, 1)}});
}

void check_lengths(const char* what, const Tensor& lengths, const Size& n) {
  TN_REQUIRE(lengths.rank() == 1 && size_at(lengths, 0) == n && is_int(lengths.dtype()),
             "[nn.ctc_loss] expected {} as integers [{}], got {} of rank {}", what, n.text(),
             dtype_name(lengths.dtype()), lengths.rank());
}

/// Whether labels within the lengths of their targets are classes, and no blanks: [n].
Tensor is_sound(const Tensor& target, const Tensor& ends, const Size& classes, int64_t blank) {
  Context& context = target.context();
  const Size longest = size_at(target, 1);
  const Tensor place = arange(longest, DType::kI64, context).expand_dims(0);
  const Tensor is_label =
      (target >= 0) & (target < from_size(classes, context)) & (target != blank);
  return all(is_label | (place >= ends.expand_dims(1)), {1}) & (ends >= 0) &
         (ends <= from_size(longest, context));
}

}  // namespace

Tensor ctc_loss(const Tensor& log_chances, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CtcOptions& options) {
  TN_REQUIRE(log_chances.rank() == 3 && size_at(log_chances, 0).minimum() > 0,
             "[nn.ctc_loss] expected log_chances [length, n, classes] of length 1 or more, got "
             "rank {}",
             log_chances.rank());
  const Size steps = size_at(log_chances, 0), n = size_at(log_chances, 1),
             classes = size_at(log_chances, 2);
  TN_REQUIRE(targets.rank() == 2 && size_at(targets, 0) == n && is_int(targets.dtype()),
             "[nn.ctc_loss] expected integer targets [{}, longest], got {} of rank {}", n.text(),
             dtype_name(targets.dtype()), targets.rank());
  TN_REQUIRE(0 <= options.blank && options.blank < classes.minimum(),
             "[nn.ctc_loss] expected a blank among {} classes, got {}", classes.text(),
             options.blank);
  check_lengths("input_lengths", input_lengths, n);
  check_lengths("target_lengths", target_lengths, n);
  Context& context = log_chances.context();
  const Tensor target = targets.astype(DType::kI64), ends = target_lengths.astype(DType::kI64),
               lengths = input_lengths.astype(DType::kI64);
  const Size longest = size_at(target, 1), places = 2 * longest + 1;
  // Blanks stand between, before and after the labels [n, places].
  const Tensor blank = full({n, longest, 1}, options.blank, DType::kI64, context);
  const Tensor last = full({n, 1}, options.blank, DType::kI64, context);
  const Tensor labels = concatenate(
      {concatenate({blank, target.expand_dims(-1)}, 2).reshape({n, 2 * longest}), last}, 1);
  // A label follows one that stands two before it if they differ.
  const Tensor place = arange(places, DType::kI64, context).expand_dims(0);
  const Tensor skips = (place % 2 == 1) & (labels != moved(labels, 2, options.blank)) & (place > 1);
  const Tensor chances = wide(log_chances)
                             .gather(2, labels.expand_dims(0).broadcast_to({steps, n, places}))
                             .maximum(kNone);  // [steps, n, places]
  const Tensor first =
      where((place < 2) & (place < ends.expand_dims(1) * 2 + 1), chances.take(0, 0), kNone);
  const auto step = [&](const std::vector<Tensor>& carried, const std::vector<Tensor>& rows) {
    const Tensor& before = carried[0];
    const Tensor two = where(skips, moved(before, 2, kNone), kNone);
    const Tensor after = log_sum(before, moved(before, 1, kNone), two) + rows[0];
    const Tensor goes_on = rows[1] < lengths.expand_dims(1);
    return Scanned{{where(goes_on, after.maximum(kNone), before)}, {}};
  };
  const Tensor paths = scan(step, {first},
                            {chances.slice({Slice{1, steps}}),
                             arange(steps, DType::kI64, context).slice({Slice{1, steps}})})
                           .carried[0];
  // A path ends at the last label or at the blank after it.
  const Tensor from_end = ends.expand_dims(1) * 2 - place;
  const Tensor ending = where((from_end == 0) | (from_end == 1), paths, kNone);
  const Tensor none = full({n, 1}, kNone, paths.dtype(), context);
  const Tensor most = ending.max(1, /*keepdims=*/true).maximum(none);
  const Tensor spelt = -(most + (ending - most).exp().sum(1, /*keepdims=*/true).log()).squeeze(1);
  // No step spells nothing, and nothing else.
  const Tensor found = where(lengths > 0, spelt, (ends > 0).astype(spelt.dtype()) * -kNone);
  const double given = options.zero_infinity ? 0 : std::numeric_limits<double>::infinity();
  const Tensor means = is_sound(target, ends, classes, options.blank) & (lengths >= 0) &
                       (lengths <= from_size(steps, context));
  Tensor losses = where(means, where(found < -kNone / 2, found, given),
                        std::numeric_limits<double>::quiet_NaN());
  if (options.reduction == Reduction::kMean)
    losses = (losses / ends.maximum(1).astype(losses.dtype())).mean();
  if (options.reduction == Reduction::kSum) losses = losses.sum();
  return losses.astype(log_chances.dtype());
}

}  // namespace tenon::nn
