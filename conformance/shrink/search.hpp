// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The best case so far, and what may still be spent. The passes offer candidates.
#pragma once

#include <chrono>
#include <optional>

#include "conformance/shrink/shrink.hpp"
#include "conformance/shrink/size.hpp"

namespace tenon::conformance::shrink {

class Search {
 public:
  Search(Case failing, Outcome outcome, const Probe& probe, Builder& builder,
         const ShrinkLimits& limits);

  const Case& best() const { return best_; }
  const Size& size() const { return size_; }
  const Outcome& outcome() const { return outcome_; }
  Builder& builder() { return builder_; }

  /// Is this share of the time or of the probes gone?
  bool spent(double share = 1) const;
  /// Takes the candidate if it is not larger and fails in the same way.
  bool accept(std::optional<Case> candidate);
  /// The same, and it must be smaller.
  bool accept_smaller(std::optional<Case> candidate);

 private:
  bool fails(const Case& candidate);

  Case best_;
  Size size_;
  Outcome outcome_;
  const Probe& probe_;
  Builder& builder_;
  ShrinkLimits limits_;
  int probes_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The passes; each says whether it found something smaller.
bool shrink_draws(Search& search);     ///< edits the choices that made the case
bool shrink_graph(Search& search);     ///< outputs, nodes, constants, sizes
bool shrink_values(Search& search);    ///< zeros, ones and short numbers
bool shrink_steps(Search& search);     ///< layer 4: the calls and their numbers
bool shrink_programs(Search& search);  ///< layer 4: the programs that calls hand over
/// Layer 3: writes the lists out, and drops what is not needed. Returns the first step that changes
/// the result, or "" if it is none of them.
std::string shrink_transforms(Search& search);

}  // namespace tenon::conformance::shrink
