// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/optimizers/optimizers.hpp"

#include <cmath>

#include "frontend/nn/optimizers/piece.hpp"
#include "frontend/nn/option_range.hpp"
#include "tenon/nn/optimizers/schedules.hpp"

namespace tenon::nn {
namespace {

/// Of a piece that sees one parameter at a time, and keeps nothing.
Optimizer each(std::string name, std::function<Tensor(const Tensor& u, const Tensor& w)> f) {
  return piece(std::move(name), {}, [f = std::move(f)](Update& of) {
    for (size_t i = 0; i < of.updates.size(); ++i)
      of.updates[i] = f(of.updates[i], of.parameters[i].tensor->astype(of.updates[i].dtype()));
  });
}

/// The old one's part of the mean of both.
Tensor mixed(const Tensor& old, const Tensor& with, double part) {
  return old * part + with * (1 - part);
}

/// Singular values moved near 1 by a polynomial of Newton and Schulz (Jordan et al., 2024).
Tensor newton_schulz(Tensor x, int steps) {
  x = x / (norm(x) + 1e-7);
  for (int i = 0; i < steps; ++i) {
    const Tensor square = x.matmul(x.matrix_transpose());
    x = 3.4445 * x + (-4.7750 * square + 2.0315 * square.matmul(square)).matmul(x);
  }
  return x;
}

/// 1 - b^t, without loss where b is near 1.
Tensor unbias(double b, const Tensor& t) { return b == 0 ? 1.0 : -expm1(t * std::log(b)); }

}  // namespace

Optimizer scale_by_learning_rate(const Rate& learning_rate) {
  return piece("rate", {count_slot()}, [learning_rate](Update& of) {
    Tensor& count = of.slots[0][0];
    const Tensor now = learning_rate(count);
    for (Tensor& u : of.updates) u = u * -now;
    count = count + 1;
  });
}

Optimizer scale(double factor) {
  check_options("nn.scale", {{"factor", factor, OptionRange::kFinite}});
  return each("scale", [=](const Tensor& u, const Tensor&) { return u * factor; });
}

Optimizer trace(double decay, bool nesterov) {
  check_options("nn.trace", {{"decay", decay, OptionRange::kPart}});
  return piece("momentum", {zeros_slot("trace")}, [=](Update& of) {
    for (size_t i = 0; i < of.updates.size(); ++i) {
      Tensor &u = of.updates[i], &m = of.slots[0][i];
      m = m * decay + u;
      u = nesterov ? u + m * decay : m;
    }
  });
}

Optimizer scale_by_adam(double b1, double b2, double eps) {
  check_options("nn.adam", {{"b1", b1, OptionRange::kPart},
                            {"b2", b2, OptionRange::kPart},
                            {"eps", eps, OptionRange::kNotNegative}});
  const std::vector<Slot> slots{zeros_slot("mean"), zeros_slot("square"), count_slot()};
  return piece("adam", slots, [=](Update& of) {
    Tensor& count = of.slots[2][0];
    count = count + 1;
    const Tensor first = unbias(b1, count), second = unbias(b2, count);
    for (size_t i = 0; i < of.updates.size(); ++i) {
      Tensor &u = of.updates[i], &m = of.slots[0][i], &v = of.slots[1][i];
      m = mixed(m, u, b1);
      v = mixed(v, u.square(), b2);
      u = (m / first) / ((v / second).sqrt() + eps);
    }
  });
}

Optimizer scale_by_rms(double decay, double eps) {
  check_options("nn.rms",
                {{"decay", decay, OptionRange::kPart}, {"eps", eps, OptionRange::kNotNegative}});
  return piece("rms", {zeros_slot("square")}, [=](Update& of) {
    for (size_t i = 0; i < of.updates.size(); ++i) {
      Tensor &u = of.updates[i], &v = of.slots[0][i];
      v = mixed(v, u.square(), decay);
      u = u / (v.sqrt() + eps);
    }
  });
}

Optimizer scale_by_rss(double initial_accumulator_value, double eps) {
  check_options("nn.adagrad", {{"initial_accumulator_value", initial_accumulator_value,
                                OptionRange::kNotNegative},
                               {"eps", eps, OptionRange::kNotNegative}});
  Slot sum = zeros_slot("sum");
  sum.begin = [zeros = sum.begin, initial_accumulator_value](const Tensor& w) {
    return zeros(w) + initial_accumulator_value;
  };
  return piece("adagrad", {sum}, [=](Update& of) {
    for (size_t i = 0; i < of.updates.size(); ++i) {
      Tensor &u = of.updates[i], &v = of.slots[0][i];
      v = v + u.square();
      u = u / (v.sqrt() + eps);
    }
  });
}

Optimizer scale_by_lion(double b1, double b2) {
  check_options("nn.lion", {{"b1", b1, OptionRange::kPart}, {"b2", b2, OptionRange::kPart}});
  return piece("lion", {zeros_slot("mean")}, [=](Update& of) {
    for (size_t i = 0; i < of.updates.size(); ++i) {
      Tensor &u = of.updates[i], &m = of.slots[0][i];
      const Tensor direction = sign(mixed(m, u, b1));
      m = mixed(m, u, b2);
      u = direction;
    }
  });
}

Optimizer scale_by_trust_ratio() {
  return each("trust", [](const Tensor& u, const Tensor& w) {
    const Tensor of_w = norm(w), of_u = norm(u);
    const Tensor usable = (of_w > 0) & (of_u > 0);
    return u * where(usable, of_w / where(of_u > 0, of_u, 1.0), 1.0);
  });
}

Optimizer orthogonalise(int ns_steps) {
  check_options("nn.orthogonalise",
                {{"ns_steps", static_cast<double>(ns_steps), OptionRange::kPositive}});
  return each("orthogonal", [=](const Tensor& u, const Tensor&) {
    if (u.rank() < 2) return u;
    const Tensor x = u.reshape({u.size(0), -1});
    const double rows = static_cast<double>(x.size(0)), columns = static_cast<double>(x.size(1));
    const bool is_tall = rows > columns;
    const Tensor out = newton_schulz(is_tall ? x.matrix_transpose() : x, ns_steps);
    return (is_tall ? out.matrix_transpose() : out).reshape(u.shape()) *
           std::sqrt(std::max(1.0, rows / columns));
  });
}

Optimizer clip_by_global_norm(double max_norm) {
  check_options("nn.clip_by_global_norm", {{"max_norm", max_norm, OptionRange::kPositive}});
  return piece("clip", {}, [=](Update& of) {
    // Of parts of the largest element: no square overflows, and the length may.
    Tensor most = 0.0, sum = 0.0;
    for (const Tensor& u : of.updates) most = most.maximum(u.abs().max());
    most = where(most == 0, 1.0, most);
    for (const Tensor& u : of.updates) sum = sum + (u / most).square().sum();
    const Tensor length = sum.sqrt(), limit = max_norm / most, is_longer = length > limit;
    const Tensor factor = max_norm / length;
    for (Tensor& u : of.updates) u = where(is_longer, u / most * factor, u);
  });
}

Optimizer clip_by_value(double limit) {
  check_options("nn.clip_by_value", {{"limit", limit, OptionRange::kPositive}});
  return each("clip", [=](const Tensor& u, const Tensor&) { return clip(u, -limit, limit); });
}

Optimizer add_decayed_weights(double weight_decay, const Which& mask) {
  check_options("nn.add_decayed_weights",
                {{"weight_decay", weight_decay, OptionRange::kNotNegative}});
  return piece("decay", {}, [=](Update& of) {
    for (size_t i = 0; i < of.updates.size(); ++i) {
      if (mask && !mask(of.parameters[i])) continue;
      Tensor& u = of.updates[i];
      u = u + of.parameters[i].tensor->astype(u.dtype()) * weight_decay;
    }
  });
}

Optimizer sgd(const SgdOptions& options) {
  std::vector<Optimizer> parts;
  if (options.weight_decay != 0) parts.push_back(add_decayed_weights(options.weight_decay));
  if (options.momentum != 0) parts.push_back(trace(options.momentum, options.nesterov));
  parts.push_back(scale_by_learning_rate(options.learning_rate));
  return chain(parts);
}

Optimizer adamw(const AdamWOptions& options) {
  return chain({scale_by_adam(options.b1, options.b2, options.eps),
                add_decayed_weights(options.weight_decay, options.mask),
                scale_by_learning_rate(options.learning_rate)});
}

Optimizer adam(const AdamOptions& options) {
  return chain({scale_by_adam(options.b1, options.b2, options.eps),
                scale_by_learning_rate(options.learning_rate)});
}

Optimizer rmsprop(const RmsPropOptions& options) {
  std::vector<Optimizer> parts{scale_by_rms(options.decay, options.eps)};
  if (options.momentum != 0) parts.push_back(trace(options.momentum));
  parts.push_back(scale_by_learning_rate(options.learning_rate));
  return chain(parts);
}

Optimizer adagrad(const AdagradOptions& options) {
  return chain({scale_by_rss(options.initial_accumulator_value, options.eps),
                scale_by_learning_rate(options.learning_rate)});
}

Optimizer lion(const LionOptions& options) {
  return chain({scale_by_lion(options.b1, options.b2), add_decayed_weights(options.weight_decay),
                scale_by_learning_rate(options.learning_rate)});
}

Optimizer lamb(const LambOptions& options) {
  return chain({scale_by_adam(options.b1, options.b2, options.eps),
                add_decayed_weights(options.weight_decay), scale_by_trust_ratio(),
                scale_by_learning_rate(options.learning_rate)});
}

Optimizer muon(const MuonOptions& options) {
  return chain({trace(options.momentum, options.nesterov), orthogonalise(options.ns_steps),
                add_decayed_weights(options.weight_decay),
                scale_by_learning_rate(options.learning_rate)});
}

}  // namespace tenon::nn
