// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adafactor and its pieces.
#include <cmath>

#include "frontend/nn/optimizers/piece.hpp"
#include "frontend/nn/option_range.hpp"
#include "tenon/nn/optimizers/optimizers.hpp"

namespace tenon::nn {
namespace {

Tensor root_of_mean_square(const Tensor& x) { return x.square().mean().sqrt(); }

/// Zeros for means over an axis of matrices; of what is no matrix they are whole, or nothing.
Slot means_slot(const std::string& name, int axis, bool whole) {
  Slot zeros = zeros_slot(name);
  zeros.begin = [begin = zeros.begin, axis, whole](const Tensor& w) {
    if (w.rank() > 1) return begin(w).sum(axis, true);
    return whole ? begin(w) : begin(w).sum();
  };
  return zeros;
}

std::vector<Slot> factored_slots() {
  return {means_slot("row", -1, true), means_slot("column", -2, false), count_slot()};
}

/// Squares as the product of their means over columns and over rows, mixed into those before; of
/// what is no matrix their mean as it is.
Tensor factored(const Tensor& square, Tensor& row, Tensor& column, const Tensor& part, double eps) {
  const auto mix = [&](Tensor& mean, const Tensor& with) { mean = mean + (with - mean) * part; };
  const bool is_matrix = square.rank() > 1;
  mix(row, is_matrix ? square.mean(-1, true) : square);
  if (!is_matrix) return row;
  mix(column, square.mean(-2, true));
  return row * column / row.mean(-2, true).maximum(eps);
}

}  // namespace

Optimizer scale_by_factored_rms(double beta2_decay, double eps) {
  check_options("nn.scale_by_factored_rms", {{"beta2_decay", beta2_decay, OptionRange::kNegative},
                                             {"eps", eps, OptionRange::kNotNegative}});
  return piece("factored", factored_slots(), [=](Update& of) {
    Tensor& count = of.slots[2][0];
    count = count + 1;
    const Tensor part = (count.log() * beta2_decay).exp();
    for (size_t i = 0; i < of.updates.size(); ++i) {
      Tensor &u = of.updates[i], &row = of.slots[0][i], &column = of.slots[1][i];
      u = u * factored(u.square(), row, column, part, eps).maximum(eps * eps).rsqrt();
    }
  });
}

Optimizer clip_by_block_rms(double threshold) {
  check_options("nn.clip_by_block_rms", {{"threshold", threshold, OptionRange::kPositive}});
  return piece("clip", {}, [=](Update& of) {
    for (Tensor& u : of.updates) u = u / (root_of_mean_square(u) / threshold).maximum(1.0);
  });
}

Optimizer scale_by_param_block_rms(double min_scale) {
  check_options("nn.scale_by_param_block_rms",
                {{"min_scale", min_scale, OptionRange::kNotNegative}});
  return piece("size", {}, [=](Update& of) {
    for (size_t i = 0; i < of.updates.size(); ++i) {
      Tensor& u = of.updates[i];
      u = u * root_of_mean_square(of.parameters[i].tensor->astype(u.dtype())).maximum(min_scale);
    }
  });
}

Optimizer adafactor(const AdafactorOptions& options) {
  check_options("nn.adafactor",
                {{"eps1", options.eps1, OptionRange::kNotNegative},
                 {"eps2", options.eps2, OptionRange::kNotNegative},
                 {"d", options.d, OptionRange::kPositive},
                 {"weight_decay", options.weight_decay, OptionRange::kNotNegative}});
  const auto step = piece("rate", {count_slot()},
                          [rate = options.learning_rate, decay = options.weight_decay](Update& of) {
                            Tensor& count = of.slots[0][0];
                            const Tensor now = rate(count),
                                         slower = now.minimum((count + 1).rsqrt());
                            for (size_t i = 0; i < of.updates.size(); ++i) {
                              Tensor& u = of.updates[i];
                              u = u * -slower;
                              if (decay != 0)
                                u = u - of.parameters[i].tensor->astype(u.dtype()) * (now * decay);
                            }
                            count = count + 1;
                          });
  return chain({scale_by_factored_rms(options.beta2_decay, options.eps1),
                clip_by_block_rms(options.d), scale_by_param_block_rms(options.eps2), step});
}

}  // namespace tenon::nn
