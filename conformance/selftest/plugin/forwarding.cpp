// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads that are taken for a value that is there already, and stores that are taken for dead.
#include <algorithm>

#include "conformance/selftest/plugin/index_form.hpp"
#include "conformance/selftest/plugin/rewrites.hpp"
#include "tenon/program.h"

namespace tenon::planted {
namespace {

/// Ops of one block, that is without regions between them, on one memory.
class Block {
 public:
  Block(Code& code, bool over_regions) : code_(code), over_regions_(over_regions) {}

  /// The nearest op before `i` on the same memory that `wanted` takes; none beyond a barrier.
  template <class Wanted>
  std::optional<uint32_t> before(uint32_t i, Wanted wanted) const {
    while (i-- > 0) {
      const Step& step = code_.steps[i];
      const bool is_region = step.op == TN_OP_LOOP || step.op == TN_OP_IF ||
                             step.op == TN_OP_ELSE || step.op == TN_OP_END;
      if (step.op == TN_OP_BARRIER || (is_region && !over_regions_)) return {};
      if (wanted(i, step)) return i;
    }
    return {};
  }

  bool is_on(const Step& a, const Step& b) const {
    return code_.steps[a.operands[0]].imm == code_.steps[b.operands[0]].imm;
  }
  IndexForm place(const Step& step) const { return index_form(code_, step.operands[1]); }
  bool is_same_place(const Step& a, const Step& b) const {
    const IndexForm x = place(a), y = place(b);
    return x.constant == y.constant && x.terms == y.terms;
  }
  bool has_scalar_index(const Step& step) const { return code_.steps[step.operands[1]].lanes == 1; }
  uint32_t lanes_stored(const Step& store) const { return code_.steps[store.operands[2]].lanes; }

 private:
  Code& code_;
  const bool over_regions_;
};

bool is_store(const Step& step) { return step.op == TN_OP_STORE; }
bool is_masked(const Step& store) { return store.operands.size() > 3; }
bool is_plain_load(const Step& step) {
  return step.op == TN_OP_TAKE && step.lanes == 1 && step.operands.size() == 2;
}

void take_value(Step& load, uint32_t value, uint32_t lane = 0) {
  load.quirk = Quirk::takes_value;
  load.other = value;
  load.amount = lane;
}

/// Loads take the value of a store to the same place: the last or the first one, whatever stands
/// between that may lead there too.
void forward_stores(Code& code, bool takes_first, bool is_of_masked, bool over_regions) {
  const Block block(code, over_regions);
  for (uint32_t i = 0; i < code.steps.size(); ++i) {
    Step& load = code.steps[i];
    if (!is_plain_load(load)) continue;
    const auto fits = [&](uint32_t, const Step& s) {
      return is_store(s) && block.is_on(s, load) && block.lanes_stored(s) == 1 &&
             is_masked(s) == is_of_masked && block.is_same_place(s, load);
    };
    auto found = block.before(i, fits);
    if (takes_first && found)
      if (const auto earlier = block.before(*found, fits)) found = earlier;
    if (found) take_value(load, code.steps[*found].operands[2]);
  }
}

/// Of a vector that was stored, any lane is the first.
void forward_vectors(Code& code) {
  const Block block(code, false);
  for (uint32_t i = 0; i < code.steps.size(); ++i) {
    Step& load = code.steps[i];
    if (!is_plain_load(load)) continue;
    const auto found = block.before(
        i, [&](uint32_t, const Step& s) { return is_store(s) && block.is_on(s, load); });
    if (!found) continue;
    const Step& store = code.steps[*found];
    const IndexForm to = block.place(store), from = block.place(load);
    const int64_t lane = from.constant - to.constant;
    if (to.terms == from.terms && block.has_scalar_index(store) && lane >= 0 &&
        lane < block.lanes_stored(store) && block.lanes_stored(store) > 1)
      take_value(load, store.operands[2]);
  }
}

/// A second load of a place is the first one, whatever was stored meanwhile under another index.
void reuse_loads(Code& code) {
  const Block block(code, false);
  for (uint32_t i = 0; i < code.steps.size(); ++i) {
    Step& load = code.steps[i];
    if (!is_plain_load(load)) continue;
    bool is_stored = false;
    const auto found = block.before(i, [&](uint32_t, const Step& s) {
      if (is_store(s) && block.is_on(s, load) && block.is_same_place(s, load)) is_stored = true;
      return is_stored ||
             (is_plain_load(s) && block.is_on(s, load) && block.is_same_place(s, load));
    });
    if (found && !is_stored) take_value(load, *found);
  }
}

/// A store that another one to its place follows is left out, though something reads between.
void drop_dead_stores(Code& code) {
  const Block block(code, false);
  for (uint32_t i = 0; i < code.steps.size(); ++i) {
    const Step& later = code.steps[i];
    if (!is_store(later) || is_masked(later)) continue;
    bool is_read = false;  // under the very same index: that is seen
    const auto found = block.before(i, [&](uint32_t, const Step& s) {
      if (s.op == TN_OP_TAKE && block.is_on(s, later) && block.is_same_place(s, later))
        is_read = true;
      return is_read ||
             (is_store(s) && block.is_on(s, later) &&
              block.lanes_stored(s) == block.lanes_stored(later) && block.is_same_place(s, later));
    });
    if (!found || is_read) continue;
    code.steps[*found].quirk = Quirk::few_lanes;
    code.steps[*found].amount = 0;
  }
}

}  // namespace

void forward(Code& code) {
  switch (code.variant) {
    case Variant::forwards_past_near:
      return forward_stores(code, false, false, false);
    case Variant::forwards_first:
      return forward_stores(code, true, false, false);
    case Variant::forwards_masked:
      return forward_stores(code, false, true, false);
    case Variant::forwards_over_sides:
      return forward_stores(code, false, false, true);
    case Variant::forwards_first_lane:
      return forward_vectors(code);
    case Variant::reuses_load:
      return reuse_loads(code);
    case Variant::drops_dead_store:
      return drop_dead_stores(code);
    default:
      return;
  }
}

}  // namespace tenon::planted
