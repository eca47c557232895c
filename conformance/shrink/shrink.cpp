// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of the passes.
#include "conformance/shrink/shrink.hpp"

#include "conformance/cases/abi/programs.hpp"
#include "conformance/shrink/search.hpp"

namespace tenon::conformance::shrink {
namespace {

/// Without the oracles that are drawn, if they are not what failed: each probe is quicker.
void drop_drawn_oracles(Search& search) {
  if (search.best().oracle_seed == 0) return;
  Case candidate = search.best();
  candidate.oracle_seed = 0;
  search.accept(std::move(candidate));
}

}  // namespace

Shrunk shrink(Case failing, const Outcome& outcome, const Probe& probe, Builder& builder,
              const ShrinkLimits& limits) {
  if (failing.refusal || (failing.sequence && !failing.sequence->check.empty()))
    return {std::move(failing)};
  Search search(std::move(failing), outcome, probe, builder, limits);
  drop_drawn_oracles(search);
  if (search.best().sequence) {
    shrink_draws(search);
    shrink_programs(search);
    if (shrink_steps(search)) shrink_programs(search);
    return {search.best()};
  }
  if (!limits.is_expensive) shrink_draws(search);
  Shrunk out{search.best(), shrink_transforms(search)};
  shrink_graph(search);
  shrink_values(search);
  out.test = search.best();
  return out;
}

}  // namespace tenon::conformance::shrink
