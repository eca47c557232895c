// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// L-BFGS. With the last steps as rows of S and the changes of the gradient g as rows of Y, s'y of
// the last of them on the diagonal of D, R the upper triangle of S Y' and h = s'y / y'y:
//   direction = h (-g - Y' a) + S' c,   R a = -S g,   R' c = D a - h Y (-g - Y' a)
// which is the recursion over both loops, with one triangular system for each.
#include <algorithm>

#include "frontend/nn/optimizers/piece.hpp"
#include "frontend/nn/option_range.hpp"
#include "tenon/linalg.hpp"
#include "tenon/make.hpp"
#include "tenon/move.hpp"
#include "tenon/nn/optimizers/optimizers.hpp"

namespace tenon::nn {
namespace {

Slot rows_slot(const std::string& name, int64_t rows) {
  Slot slot = zeros_slot(name);
  slot.begin = [begin = slot.begin, rows](const Tensor& w) {
    return tenon::zeros({rows, w.size()}, begin(w).dtype(), w.context());
  };
  return slot;
}

Slot flat_slot(const std::string& name) {
  Slot slot = zeros_slot(name);
  slot.begin = [begin = slot.begin](const Tensor& w) { return begin(w).ravel(); };
  return slot;
}

/// Sum over all parameters.
template <class F>
Tensor over(size_t count, const F& f) {
  Tensor sum = f(0);
  for (size_t i = 1; i < count; ++i) sum = sum + f(i);
  return sum;
}

Tensor column(const Tensor& x) { return x.expand_dims(-1); }

struct Kept {
  std::vector<Tensor>&s, &y, &gradient, &step;  ///< of each parameter: [history, n], [n]
  Tensor &count, &held, &h;                     ///< updates, rows in use, scale

  explicit Kept(Update& of)
      : s(of.slots[0]),
        y(of.slots[1]),
        gradient(of.slots[2]),
        step(of.slots[3]),
        count(of.slots[4][0]),
        held(of.slots[5][0]),
        h(of.slots[6][0]) {}
};

/// Keeps the last step and change of the gradient, if the function curved upwards along it.
void remember(const Kept& kept, const std::vector<Tensor>& g, const Tensor& is_done) {
  const size_t n = g.size();
  std::vector<Tensor> change;
  for (size_t i = 0; i < n; ++i) change.push_back(g[i] - kept.gradient[i]);
  const Tensor curve = over(n, [&](size_t i) { return (change[i] * kept.step[i]).sum(); });
  const Tensor length = over(n, [&](size_t i) { return change[i].square().sum(); });
  const Tensor is_kept = (kept.count > 0) & (curve > 1e-10) & (is_done == false);
  const int64_t rows = kept.s[0].size(0);
  const auto append = [&](Tensor& to, const Tensor& row) {
    const Tensor moved = concatenate({to.slice({{1, rows}}), row.expand_dims(0)});
    to = where(is_kept, moved, to);
  };
  for (size_t i = 0; i < n; ++i) {
    append(kept.s[i], kept.step[i]);
    append(kept.y[i], change[i]);
  }
  kept.held = where(is_kept, (kept.held + 1).minimum(static_cast<double>(rows)), kept.held);
  kept.h = where(is_kept, curve / where(is_kept, length, 1.0), kept.h);
}

std::vector<Tensor> direction(const Kept& kept, const std::vector<Tensor>& g) {
  const size_t n = g.size();
  const int64_t rows = kept.s[0].size(0);
  Context& context = g[0].context();
  const Tensor products =
      triu(over(n, [&](size_t i) { return kept.s[i].matmul(kept.y[i].matrix_transpose()); }));
  const Tensor row = arange(rows, DType::kF32, context);
  const Tensor is_empty = row < static_cast<double>(rows) - kept.held;
  const Tensor ones = eye(rows, {}, 0, products.dtype(), context);
  const Tensor r = products + where(column(is_empty), ones, 0.0);
  const Tensor a =
      solve_triangular(r, -over(n, [&](size_t i) { return kept.s[i].matmul(column(g[i])); }));
  std::vector<Tensor> rest;
  for (size_t i = 0; i < n; ++i)
    rest.push_back(-column(g[i]) - kept.y[i].matrix_transpose().matmul(a));
  const Tensor c =
      solve_triangular(r.matrix_transpose(),
                       column((r * ones).sum(-1)) * a -
                           over(n, [&](size_t i) { return kept.y[i].matmul(rest[i]); }) * kept.h,
                       /*lower=*/true);
  std::vector<Tensor> out;
  for (size_t i = 0; i < n; ++i)
    out.push_back((rest[i] * kept.h + kept.s[i].matrix_transpose().matmul(c)).ravel());
  return out;
}

std::vector<Slot> slots_of(int64_t history) {
  Slot scale = count_slot("scale");
  scale.begin = [zero = scale.begin](const Tensor& w) { return zero(w) + 1; };
  return {rows_slot("steps", history),
          rows_slot("changes", history),
          flat_slot("gradient"),
          flat_slot("step"),
          count_slot(),
          count_slot("held"),
          scale};
}

Tensor largest(const std::vector<Tensor>& g) {
  Tensor out = g[0].abs().max();
  for (const Tensor& one : g) out = out.maximum(one.abs().max());
  return out;
}

/// Of the step along the direction; the first is short where the gradient is long.
Tensor size_of(const Kept& kept, const std::vector<Tensor>& g, const Tensor& is_done,
               const Rate& learning_rate) {
  const Tensor sum = over(g.size(), [&](size_t i) { return g[i].abs().sum(); });
  const Tensor first = where(is_done, 1.0, 1.0 / sum).minimum(1.0);
  return where(kept.count > 0, 1.0, first) * learning_rate(kept.count);
}

/// Makes the step, and keeps it.
void go(Update& of, const Kept& kept, const std::vector<Tensor>& g, const Tensor& is_done,
        const LbfgsOptions& options) {
  const size_t n = g.size();
  const std::vector<Tensor> to = direction(kept, g);
  const Tensor slope = over(n, [&](size_t i) { return (g[i] * to[i]).sum(); });
  const Tensor size = size_of(kept, g, is_done, options.learning_rate);
  const Tensor stays = is_done | (slope > -options.tolerance_change);
  for (size_t i = 0; i < n; ++i) {
    const Tensor step = to[i] * size;
    of.updates[i] = where(stays, 0.0, step).reshape(of.updates[i].shape());
    kept.step[i] = where(is_done, kept.step[i], step);
    kept.gradient[i] = where(is_done, kept.gradient[i], g[i]);
  }
  kept.count = kept.count + where(is_done, 0.0, tenon::ones({}, DType::kF32, kept.count.context()));
}

}  // namespace

Optimizer lbfgs(const LbfgsOptions& options) {
  check_options(
      "nn.lbfgs",
      {{"history_size", static_cast<double>(options.history_size), OptionRange::kPositive},
       {"tolerance_grad", options.tolerance_grad, OptionRange::kNotNegative},
       {"tolerance_change", options.tolerance_change, OptionRange::kNotNegative}});
  return piece("lbfgs", slots_of(options.history_size), [options](Update& of) {
    const Kept kept(of);
    std::vector<Tensor> g;
    for (const Tensor& u : of.updates) g.push_back(u.ravel());
    const Tensor is_done = largest(g) <= options.tolerance_grad;
    remember(kept, g, is_done);
    go(of, kept, g, is_done, options);
  });
}

}  // namespace tenon::nn
