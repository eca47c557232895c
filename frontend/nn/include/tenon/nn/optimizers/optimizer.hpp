// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optimizers: chains of pieces, each of which makes better updates of the updates before it, the
// first of gradients. What a chain keeps is a plain value beside the model.
//
//   const nn::Optimizer optimizer = nn::adamw({.learning_rate = 1e-3});
//   nn::OptimizerState state = optimizer.init(model);
//   auto [loss, gradients] = nn::value_and_grad(model, [&](Mlp& m) { .. });
//   optimizer.update(model, gradients, state);
//
// Within what `compile` traces a step is one plan. New parameters and states are lazy until a step
// is realized: a loop that is not compiled realizes them (`realize(model, state)`).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/nn/module.hpp"

namespace tenon::nn {

/// Which parameters; none: all.
using Which = std::function<bool(const Named&)>;

/// What a piece keeps: a tensor for each parameter, or one for all.
struct Slot {
  std::string name;
  /// Begin of the slot of a parameter; of one that is for all, of a key's context: [].
  std::function<Tensor(const Tensor& parameter)> begin;
  bool is_for_all = false;
  Which which = {};  ///< the parameters that have one
};

/// A slot for each parameter of its shape, of zeros, f32 (f64 for f64).
TENON_API Slot zeros_slot(const std::string& name);
/// A number for all, f32 [], from 0.
TENON_API Slot count_slot(const std::string& name = "count");

/// What a piece is called with: lists of tensors, one for each parameter that is learned.
struct Update {
  std::vector<Tensor> updates;           ///< f32 or f64; to be added to the parameters
  std::span<std::vector<Tensor>> slots;  ///< in the order of the piece's list
  const std::vector<Named>& parameters;
};

struct Piece {
  std::string name;
  std::vector<Slot> slots;
  std::function<void(Update&)> update;
  bool is_last = false;  ///< it takes updates for final: nothing may come after it
};

struct OptimizerState {
  std::vector<std::vector<Tensor>> slots;  ///< of all pieces in order
  TENON_FIELDS(slots)
};

/// The same names as a checkpoint gives.
struct NamedState {
  std::string name;  ///< "adam.mean.fc1.weight", "adam.count"
  Tensor* tensor;
};

class TENON_API Optimizer {
 public:
  Optimizer(std::vector<Piece> pieces);
  Optimizer(const Optimizer&) = default;  // a move is a copy: none is left without pieces
  Optimizer& operator=(const Optimizer&) = default;

  OptimizerState init(const std::vector<Named>& learned) const;
  template <Module M>
  OptimizerState init(M& model) const {
    return init(learned(model));
  }

  /// Gradients of learned(model), in its order: floats of the parameters' shapes. Throws kInvalid,
  /// naming the parameter, for lists that do not fit.
  void update(const std::vector<Named>& learned, const std::vector<Tensor>& gradients,
              OptimizerState& state) const;
  template <Module M>
  void update(M& model, const std::vector<Tensor>& gradients, OptimizerState& state) const {
    update(learned(model), gradients, state);
  }

  std::vector<NamedState> named(const std::vector<Named>& learned, OptimizerState& state) const;
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::vector<Piece> pieces_;
};

/// Pieces and optimizers in a row. Throws kInvalid for a scale_loss that is not the first, as what
/// came before it would see scaled gradients, and for a piece after one that is last, as ema is.
TENON_API Optimizer chain(const std::vector<Optimizer>& parts);
/// The parameters that `which` takes learn by `chosen`, the rest by `others`; neither sees those of
/// the other. Throws kInvalid where one of the two has scale_loss, which goes around.
TENON_API Optimizer partition(const Which& which, const Optimizer& chosen, const Optimizer& others);

/// Computes what is lazy in a model and beside it. The values are data then: gradients end at them.
template <class... T>
void realize(T&... values) {
  std::vector<Tensor> all;
  (fields::each(values, "", [&](const std::string&, Tensor& tensor) { all.push_back(tensor); }),
   ...);
  realize_detached(all);
}

}  // namespace tenon::nn
