// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrites loops to save the states that their gradients need. Private to core/autodiff.
#pragma once

#include <vector>

#include "core/autodiff/backward.hpp"

namespace tenon::autodiff {

class Taping {
 public:
  explicit Taping(Backward& backward) : backward_(backward), builder_(backward.builder()) {}

  /// Rewrites the loops; false if there are none.
  bool run(const std::vector<NodeRef>& order);
  /// The nodes after the rewrite.
  std::vector<NodeRef> rebuilt(const std::vector<NodeRef>& nodes) const;

 private:
  struct Loop {
    std::vector<NodeRef> sources;  ///< trips, initial, captured
    GraphRef body;
    size_t carried = 0;
    bool is_while = false;
  };
  struct Taped {
    Loop loop;
    Tape tape;
  };

  Taped taped(const NodeRef& node, Loop loop) const;
  Loop in_segments(const Loop& loop, int64_t trips) const;
  /// Makes the adjoint graph of one iteration. Returns the indices of carried values that it uses.
  std::vector<size_t> differentiate(const Loop& loop, Tape& tape) const;
  /// Makes reductions of an iteration params of its adjoint graph where this saves work and fits
  /// tape.room. Returns these nodes of the loop body.
  std::vector<NodeRef> save_reductions(const Loop& loop, Tape& tape) const;
  static std::vector<size_t> used_states(const Loop& loop, const Tape& tape);
  static double state_bytes(const Loop& loop, const std::vector<size_t>& saved);

  Backward& backward_;
  Builder& builder_;
  FlatMap<const Node*, NodeRef> rebuilt_;
};

}  // namespace tenon::autodiff
