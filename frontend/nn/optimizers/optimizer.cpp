// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/optimizers/optimizer.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/support/error.hpp"
#include "frontend/nn/wide.hpp"
#include "tenon/make.hpp"
#include "tenon/nn/precision.hpp"

namespace tenon::nn {
namespace {

/// The parameters that have a tensor in the slot; of one for all, the first.
std::vector<Named> owners(const Slot& slot, const std::vector<Named>& learned) {
  if (slot.is_for_all) return {learned.front()};
  std::vector<Named> out = learned;
  if (slot.which) std::erase_if(out, [&](const Named& named) { return !slot.which(named); });
  return out;
}

}  // namespace

Slot zeros_slot(const std::string& name) {
  return {name,
          [](const Tensor& parameter) { return zeros_like(parameter, wide(parameter.dtype())); }};
}

Slot count_slot(const std::string& name) {
  return {
      name,
      [](const Tensor& parameter) { return tenon::zeros({}, DType::kF32, parameter.context()); },
      /*is_for_all=*/true};
}

Optimizer::Optimizer(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  for (const Piece& piece : pieces_)
    TN_REQUIRE(piece.update, "[nn.optimizer] expected {} to have a function, got none",
               piece.name.empty() ? "a piece" : piece.name);
}

OptimizerState Optimizer::init(const std::vector<Named>& learned) const {
  TN_REQUIRE(!learned.empty(),
             "[nn.optimizer] expected a model with something to learn, got none: it has no "
             "parameters, or all are frozen");
  OptimizerState state;
  std::vector<Tensor> all;
  for (const Piece& piece : pieces_) {
    for (const Slot& slot : piece.slots) {
      std::vector<Tensor>& own = state.slots.emplace_back();
      for (const Named& named : owners(slot, learned)) own.push_back(slot.begin(*named.tensor));
      all.insert(all.end(), own.begin(), own.end());
    }
  }
  realize_detached(all);
  return state;
}

void Optimizer::update(const std::vector<Named>& learned, const std::vector<Tensor>& gradients,
                       OptimizerState& state) const {
  TN_REQUIRE(gradients.size() == learned.size(),
             "[nn.optimizer] expected a gradient for each of {} parameters, got {}", learned.size(),
             gradients.size());
  size_t slots = 0;
  for (const Piece& piece : pieces_) slots += piece.slots.size();
  TN_REQUIRE(state.slots.size() == slots,
             "[nn.optimizer] expected a state of {} slots, made by this optimizer's init, got {}",
             slots, state.slots.size());
  Update update{{}, {}, learned};
  for (size_t i = 0; i < learned.size(); ++i) {
    const Tensor& gradient = gradients[i];
    const std::vector<int64_t>& shape = learned[i].parameter->declared->shape;
    TN_REQUIRE(gradient.shape() == shape && is_float(gradient.dtype()),
               "[nn.optimizer] {}: expected a gradient of floats [{}], got {}[{}]", learned[i].name,
               fmt::join(shape, ", "), dtype_name(gradient.dtype()),
               fmt::join(gradient.shape(), ", "));
    update.updates.push_back(wide(gradients[i]));
  }
  size_t first = 0;
  for (const Piece& piece : pieces_) {
    update.slots = std::span(state.slots).subspan(first, piece.slots.size());
    for (size_t i = 0; i < piece.slots.size(); ++i) {
      const size_t count = owners(piece.slots[i], learned).size();
      TN_REQUIRE(update.slots[i].size() == count,
                 "[nn.optimizer] expected {}.{} of {} parameters, got {}: was something frozen "
                 "after init?",
                 piece.name, piece.slots[i].name, count, update.slots[i].size());
    }
    piece.update(update);
    first += piece.slots.size();
  }
  for (size_t i = 0; i < learned.size(); ++i) {
    Tensor& parameter = *learned[i].tensor;
    parameter =
        (parameter.astype(update.updates[i].dtype()) + update.updates[i]).astype(parameter.dtype());
  }
}

std::vector<NamedState> Optimizer::named(const std::vector<Named>& learned,
                                         OptimizerState& state) const {
  std::vector<NamedState> out;
  size_t next = 0;
  for (const Piece& piece : pieces_) {
    for (const Slot& slot : piece.slots) {
      const std::vector<Named> of = owners(slot, learned);
      TN_REQUIRE(next < state.slots.size() && state.slots[next].size() == of.size(),
                 "[nn.optimizer] expected a state made by this optimizer's init for this model, "
                 "got another");
      for (size_t i = 0; i < state.slots[next].size(); ++i)
        out.push_back({piece.name + "." + slot.name + (slot.is_for_all ? "" : "." + of[i].name),
                       &state.slots[next][i]});
      ++next;
    }
  }
  return out;
}

Optimizer chain(const std::vector<Optimizer>& parts) {
  std::vector<Piece> pieces;
  for (const Optimizer& part : parts) {
    TN_REQUIRE(pieces.empty() || !scales_loss(part),
               "[nn.chain] expected scale_loss around all that is chained, got it after {}, which "
               "would see scaled gradients",
               pieces.back().name);
    const auto last = std::ranges::find_if(pieces, &Piece::is_last);
    TN_REQUIRE(last == pieces.end() || part.pieces().empty(),
               "[nn.chain] expected {} as the last piece, got {} after it", last->name,
               part.pieces().front().name);
    pieces.insert(pieces.end(), part.pieces().begin(), part.pieces().end());
  }
  return {std::move(pieces)};
}

}  // namespace tenon::nn
