// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An optimizer of one piece.
#pragma once

#include "tenon/nn/optimizers/optimizer.hpp"

namespace tenon::nn {

inline Optimizer piece(std::string name, std::vector<Slot> slots,
                       std::function<void(Update&)> update) {
  return Optimizer({Piece{std::move(name), std::move(slots), std::move(update)}});
}

}  // namespace tenon::nn
