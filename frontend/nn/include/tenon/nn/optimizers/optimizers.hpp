// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optimizers by name, and the pieces they are chained of. Pieces and arguments have optax's names,
// or PyTorch's where optax has none; defaults are PyTorch's where it has them.
//
// A whole optimizer takes its options by name, as adam({.learning_rate = 1e-3}). A rate is a number
// or a function of the step. What is negative, NaN or infinite where it means nothing throws
// kInvalid, with the option and its range.
#pragma once

#include "tenon/export.hpp"
#include "tenon/nn/optimizers/optimizer.hpp"
#include "tenon/nn/optimizers/schedules.hpp"

namespace tenon::nn {

// Pieces. u is the update so far, the gradient at first; w the parameter; t counts from 1.

/// u -learning_rate: goes last, since updates are added.
TENON_API Optimizer scale_by_learning_rate(const Rate& learning_rate);
/// u factor.
TENON_API Optimizer scale(double factor);
/// m = decay m + u; u = m, or with Nesterov's look ahead u + decay m: momentum. The first m is u
/// (Sutskever et al., 2013).
TENON_API Optimizer trace(double decay, bool nesterov = false);
/// m = b1 m + (1-b1) u, v = b2 v + (1-b2) u^2; m/(1-b1^t) / (sqrt(v/(1-b2^t)) + eps): Kingma
/// and Ba, 2014.
TENON_API Optimizer scale_by_adam(double b1 = 0.9, double b2 = 0.999, double eps = 1e-8);
/// v = decay v + (1-decay) u^2; u / (sqrt(v) + eps): Tieleman and Hinton, 2012.
TENON_API Optimizer scale_by_rms(double decay = 0.99, double eps = 1e-8);
/// v = v + u^2; u / (sqrt(v) + eps): Duchi, Hazan, Singer, 2011.
TENON_API Optimizer scale_by_rss(double initial_accumulator_value = 0, double eps = 1e-10);
/// sign(b1 m + (1-b1) u), then m = b2 m + (1-b2) u: Chen et al., 2023.
TENON_API Optimizer scale_by_lion(double b1 = 0.9, double b2 = 0.99);
/// u |w| / |u| of each parameter, lengths of all its elements; 1 where one of them is 0: You et
/// al., 2019.
TENON_API Optimizer scale_by_trust_ratio();
/// Of a matrix [n, m..] the nearest orthogonal one, by `ns_steps` of Newton-Schulz's quintic, times
/// sqrt(max(1, n/m)); other ranks stay: Jordan et al., 2024.
TENON_API Optimizer orthogonalise(int ns_steps = 5);
/// u / (|u| / max_norm) where the length |u| over all parameters is above max_norm.
TENON_API Optimizer clip_by_global_norm(double max_norm);
/// Each element within [-limit, limit].
TENON_API Optimizer clip_by_value(double limit);
/// Of a matrix [.., n, m] R and C are means of u^2 over its rows and columns, V = R C / mean(R);
/// of other ranks V is the mean of u^2. Means weigh a new one with t^beta2_decay; u / sqrt(max(V,
/// eps^2)): Shazeer and Stern, 2018.
TENON_API Optimizer scale_by_factored_rms(double beta2_decay = -0.8, double eps = 0x1p-23);
/// u / max(1, r / threshold) of each parameter, r the root of the mean of its u^2.
TENON_API Optimizer clip_by_block_rms(double threshold);
/// u times the root of the mean of w^2 of each parameter, at least `min_scale`.
TENON_API Optimizer scale_by_param_block_rms(double min_scale = 1e-3);
/// u + weight_decay w, for the parameters that `mask` takes; none: all.
TENON_API Optimizer add_decayed_weights(double weight_decay, const Which& mask = {});

// Whole optimizers.

struct SgdOptions {
  Rate learning_rate = 1e-3;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;  ///< added to gradients
};
TENON_API Optimizer sgd(const SgdOptions& options = {});

struct AdamWOptions {
  Rate learning_rate = 1e-3;
  double b1 = 0.9, b2 = 0.999, eps = 1e-8;
  double weight_decay = 0.01;  ///< beside the gradient: Loshchilov and Hutter, 2017
  Which mask = {};             ///< which parameters; none: all
};
TENON_API Optimizer adamw(const AdamWOptions& options = {});
struct AdamOptions {
  Rate learning_rate = 1e-3;
  double b1 = 0.9, b2 = 0.999, eps = 1e-8;
};
/// AdamW without decay.
TENON_API Optimizer adam(const AdamOptions& options = {});

struct RmsPropOptions {
  Rate learning_rate = 1e-2;
  double decay = 0.99, eps = 1e-8, momentum = 0;
};
TENON_API Optimizer rmsprop(const RmsPropOptions& options = {});

struct AdagradOptions {
  Rate learning_rate = 1e-2;
  double initial_accumulator_value = 0, eps = 1e-10;
};
TENON_API Optimizer adagrad(const AdagradOptions& options = {});

struct LionOptions {
  Rate learning_rate = 1e-4;
  double b1 = 0.9, b2 = 0.99, weight_decay = 0;
};
TENON_API Optimizer lion(const LionOptions& options = {});

struct LambOptions {
  Rate learning_rate = 1e-3;
  double b1 = 0.9, b2 = 0.999, eps = 1e-6, weight_decay = 0;
};
TENON_API Optimizer lamb(const LambOptions& options = {});

struct MuonOptions {
  Rate learning_rate = 0.02;
  double momentum = 0.95, weight_decay = 0;
  bool nesterov = true;
  int ns_steps = 5;
};
/// For matrices of hidden layers; `partition` gives the rest to another.
TENON_API Optimizer muon(const MuonOptions& options = {});

struct AdafactorOptions {
  Rate learning_rate = 1e-2;  ///< or 1 / sqrt(t), if that is less
  double beta2_decay = -0.8, eps1 = 0x1p-23, eps2 = 1e-3, d = 1, weight_decay = 0;
};
/// Keeps n + m numbers of a matrix [n, m]. weight_decay is beside the gradient, times
/// `learning_rate`.
TENON_API Optimizer adafactor(const AdafactorOptions& options = {});

struct LbfgsOptions {
  Rate learning_rate = 1;
  int64_t history_size = 100;
  double tolerance_grad = 1e-7;    ///< no step where no gradient is larger
  double tolerance_change = 1e-9;  ///< nor where the slope along the step is flatter
};
/// Limited-memory BFGS (Nocedal, 1980), one iteration an update, as PyTorch's with max_iter = 1,
/// in the compact form of Byrd, Nocedal and Schnabel, 1994. For gradients of one function, not of
/// batches that change. There is no line search: it would ask for the function at other places,
/// and an update has only its gradient.
TENON_API Optimizer lbfgs(const LbfgsOptions& options = {});

}  // namespace tenon::nn
