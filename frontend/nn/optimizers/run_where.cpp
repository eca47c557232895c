// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/nn/optimizers/run_where.hpp"

#include "core/support/error.hpp"
#include "tenon/nn/precision.hpp"

namespace tenon::nn {

Optimizer around(std::string name, std::vector<Slot> own, const Optimizer& inner,
                 std::function<void(Update&)> update) {
  TN_REQUIRE(!scales_loss(inner), "[nn.{}] expected scale_loss around it, got it within", name);
  bool is_last = false;
  for (const Piece& piece : inner.pieces()) {
    is_last = is_last || piece.is_last;
    for (Slot slot : piece.slots) {
      slot.name = piece.name + "." + slot.name;
      own.push_back(std::move(slot));
    }
  }
  return Optimizer({Piece{std::move(name), std::move(own), std::move(update), is_last}});
}

void run(const Optimizer& inner, Update& of, size_t first) {
  for (const Piece& piece : inner.pieces()) {
    Update part{std::move(of.updates), of.slots.subspan(first, piece.slots.size()), of.parameters};
    piece.update(part);
    of.updates = std::move(part.updates);
    first += piece.slots.size();
  }
}

void run_where(const Tensor& condition, const Optimizer& inner, Update& of, size_t first) {
  const std::vector<std::vector<Tensor>> before(of.slots.begin(), of.slots.end());
  run(inner, of, first);
  for (Tensor& u : of.updates) u = where(condition, u, 0.0);
  for (size_t i = first; i < before.size(); ++i)
    for (size_t j = 0; j < before[i].size(); ++j)
      of.slots[i][j] = where(condition, of.slots[i][j], before[i][j]);
}

}  // namespace tenon::nn
