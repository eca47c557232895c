// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes the loops of a graph keep the states that their gradients need. Private to core/autodiff.
#pragma once

#include <map>
#include <vector>

#include "core/autodiff/backward.hpp"

namespace tenon::autodiff {

class Taping {
 public:
  explicit Taping(Backward& backward) : backward_(backward), builder_(backward.builder()) {}

  /// Whether there is such a loop.
  bool run(const std::vector<NodeRef>& order);
  /// What stands for these nodes now.
  std::vector<NodeRef> remade(const std::vector<NodeRef>& nodes) const;

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
  /// Makes the adjoints of one trip. Returns the carried values that they need.
  std::vector<size_t> differentiate(const Loop& loop, Tape& tape) const;
  /// Has the adjoints of one trip take reductions that the trip computed as params, where that
  /// leaves them less to do and its room is not exceeded. Gives these nodes of the loop's body.
  std::vector<NodeRef> keep_reductions(const Loop& loop, Tape& tape) const;
  static std::vector<size_t> used_states(const Loop& loop, const Tape& tape);
  static double state_bytes(const Loop& loop, const std::vector<size_t>& kept);

  Backward& backward_;
  Builder& builder_;
  FlatMap<const Node*, NodeRef> remade_;
};

}  // namespace tenon::autodiff
