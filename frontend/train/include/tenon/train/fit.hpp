// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop in which a model learns, for those who do not write their own.
//
//   data::Loader loader(train, {.batch = 64, .seed = 1});
//   const auto loss = [](Mlp& m, const std::vector<Tensor>& batch, const Key& key) {
//     return nn::cross_entropy(m(batch[0], nn::Mode::training(key)), batch[1]);
//   };
//   const train::Result result = train::fit(model, nn::adamw({.learning_rate = 1e-3}), loader,
//   loss,
//                                           {.epochs = 10, .checkpoints = "runs/mlp"});
//
// A step is traced once, and writes over the model and the optimizer's state. With a folder of
// checkpoints, what was stopped at any moment goes on where the newest one is, bit for bit as if it
// had not been stopped.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tenon/compile.hpp"
#include "tenon/export.hpp"
#include "tenon/nn/checkpoint.hpp"
#include "tenon/nn/module.hpp"
#include "tenon/nn/optimizers/optimizer.hpp"
#include "tenon/nn/precision.hpp"
#include "tenon/random.hpp"
#include "tenon/train/batches.hpp"
#include "tenon/train/progress.hpp"

namespace tenon::train {

struct Options {
  int64_t steps = 0, epochs = 0;  ///< one of the two
  std::optional<Key> key = {};    ///< what the keys of steps are split from; none: Key(0)
  std::string name = "step";      ///< of the traced function, for messages
  bool progress = true;           ///< a line on standard error, where that is a terminal
  std::string metrics = {};    ///< a file of rows, .jsonl or .csv: step, loss, validation, seconds
  std::string events = {};     ///< a folder for TensorBoard
  int64_t validate_every = 0;  ///< steps; 0: once an epoch
  int64_t patience = 0;        ///< validations in a row without a better one that end it; 0: none
  std::string checkpoints = {};  ///< a folder of this run alone; what it holds is resumed
  int64_t checkpoint_every = 0;  ///< steps; 0: after the last, and where a validation is kept
  int64_t keep = 2;              ///< of the newest checkpoints
  int64_t keep_best = 1;         ///< and of those with the least validation
  std::function<void(const Report&)> on_step = {};
};

struct Result {
  int64_t first_step = 0;         ///< that this call made; above 0 where it resumed
  int64_t steps = 0;              ///< that the model has behind it
  std::vector<float> losses;      ///< of the steps of this call
  std::optional<double> best;     ///< the least validation of all
  bool is_stopped_early = false;  ///< by patience
  double seconds = 0;             ///< of all steps of this call, compiling too
};

namespace fields {

/// A loop over a model of any type.
struct Work {
  Context& context;
  std::function<Tensor(const std::vector<Tensor>& batch, const Key& key)> step;
  std::function<double()> validate = {};
  std::function<void(const std::string& path, const formats::Metadata&)> save;
  std::function<formats::Metadata(const std::string& path)> load;
};
TENON_API Result run(const Work& work, const Batches& batches, const Options& options);

/// Whether TENON_CHECK_NAN is 1; throws kInvalid unless it is 0, 1 or not set.
TENON_API bool checks_nan();
/// Whether all elements are finite, of the gradients too, bool [].
TENON_API Tensor all_finite(const nn::LossAndGradients& found, bool gradients);
/// Throws kInvalid with the op that made the first number that is not finite, of what is still
/// lazy.
[[noreturn]] TENON_API void blame(const nn::LossAndGradients& found,
                                  const std::vector<nn::Named>& model,
                                  const std::vector<nn::Named>& learned,
                                  const std::vector<Tensor>& batch);

template <class Loss, class M>
Tensor loss_of(const Loss& loss, M& model, const std::vector<Tensor>& batch, const Key& key) {
  if constexpr (std::is_invocable_v<const Loss&, M&, const std::vector<Tensor>&, const Key&>)
    return loss(model, batch, key);
  else
    return loss(model, batch);
}

}  // namespace fields

/// Minimises loss(model, batch) or loss(model, batch, key), a tensor of one element, where key is a
/// new one at each step. `validate(model)` is a number of which less is better. The model must be
/// initialised. With TENON_CHECK_NAN=1 a loss or gradient that is not finite is an error that names
/// the op which made it; gradients of scaled losses (nn::scale_loss) may be so. Throws kInvalid for
/// options that mean nothing and for a folder with checkpoints of another model or key,
/// kEnvironment for files that cannot be written; the model is as after the last whole step then.
template <nn::Module M, class Loss, class Validate = std::nullptr_t>
Result fit(M& model, const nn::Optimizer& optimizer, const Batches& batches, const Loss& loss,
           const Options& options, const Validate& validate = nullptr) {
  nn::OptimizerState state = optimizer.init(model);
  const bool scales = nn::scales_loss(optimizer);
  const auto found = [&](M& m, const nn::OptimizerState& kept, const std::vector<Tensor>& batch,
                         const Key& key) {
    nn::LossAndGradients out = nn::value_and_grad(m, [&](M& used) {
      const Tensor value = fields::loss_of(loss, used, batch, key);
      return scales ? value * nn::loss_scale(optimizer, kept) : value;
    });
    if (scales) out.loss = out.loss / nn::loss_scale(optimizer, kept);
    return out;
  };
  const bool checks = fields::checks_nan();
  const auto step = compile(
      [&](M m, nn::OptimizerState kept, std::vector<Tensor> batch, Key key) {
        const nn::LossAndGradients now = found(m, kept, batch, key);
        optimizer.update(m, now.gradients, kept);
        std::optional<Tensor> is_finite;
        if (checks) is_finite = fields::all_finite(now, !scales);
        return std::tuple(m, kept, now.loss, is_finite);
      },
      {.name = options.name, .donate = checks ? std::vector<size_t>() : std::vector<size_t>{0, 1}});
  Context& context = nn::tensors(model).front().tensor->context();
  fields::Work work{.context = context, .step = {}, .save = {}, .load = {}};
  work.step = [&](const std::vector<Tensor>& batch, const Key& key) {
    auto [next, kept, value, is_finite] = step(model, state, batch, key);
    if (is_finite && !is_finite->template item<bool>()) {
      M again = model;
      const nn::LossAndGradients faulty = found(again, state, batch, key);
      fields::blame(faulty, nn::tensors(model), nn::learned(model), batch);
    }
    model = std::move(next);
    state = std::move(kept);
    return value;
  };
  if constexpr (!std::is_same_v<Validate, std::nullptr_t>)
    work.validate = [&] { return static_cast<double>(validate(model)); };
  work.save = [&](const std::string& path, const formats::Metadata& metadata) {
    nn::save(path, model, optimizer, state, metadata);
  };
  work.load = [&](const std::string& path) {
    return nn::load(path, model, optimizer, state, context);
  };
  return fields::run(work, batches, options);
}

}  // namespace tenon::train
