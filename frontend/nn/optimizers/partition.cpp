// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Some parameters learn by one optimizer, the rest by another.
#include "core/support/error.hpp"
#include "frontend/nn/optimizers/run_where.hpp"
#include "tenon/nn/optimizers/optimizer.hpp"

namespace tenon::nn {
namespace {

/// `inner` for those that `which` takes: it sees no others, and their updates stay.
Optimizer only(const char* name, const Which& which, const Optimizer& inner) {
  const auto run_those = [=](Update& of) {
    std::vector<size_t> at;
    std::vector<Named> those;
    std::vector<Tensor> updates;
    for (size_t i = 0; i < of.updates.size(); ++i) {
      if (!which(of.parameters[i])) continue;
      at.push_back(i);
      those.push_back(of.parameters[i]);
      updates.push_back(of.updates[i]);
    }
    if (at.empty()) return;
    Update part{std::move(updates), of.slots, those};
    run(inner, part, 0);
    for (size_t i = 0; i < at.size(); ++i) of.updates[at[i]] = part.updates[i];
  };
  Piece piece = around(name, {}, inner, run_those).pieces().front();
  for (Slot& slot : piece.slots)
    slot.which = [which, inner_which = slot.which](const Named& named) {
      return which(named) && (!inner_which || inner_which(named));
    };
  return Optimizer({std::move(piece)});
}

}  // namespace

Optimizer partition(const Which& which, const Optimizer& chosen, const Optimizer& others) {
  TN_REQUIRE(which, "[nn.partition] expected a function that says which parameters, got none");
  const Which rest = [which](const Named& named) { return !which(named); };
  // Neither sees what is the other's: a piece that is last may stand in both.
  return Optimizer({only("chosen", which, chosen).pieces().front(),
                    only("others", rest, others).pieces().front()});
}

}  // namespace tenon::nn
