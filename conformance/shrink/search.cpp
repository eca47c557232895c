// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/shrink/search.hpp"

#include "core/support/error.hpp"

namespace tenon::conformance::shrink {

Search::Search(Case failing, Outcome outcome, const Probe& probe, Builder& builder,
               const ShrinkLimits& limits)
    : best_(std::move(failing)),
      size_(size_of(best_)),
      outcome_(std::move(outcome)),
      probe_(probe),
      builder_(builder),
      limits_(limits) {}

bool Search::spent(double share) const {
  const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin_;
  return probes_ >= limits_.probes * share || used.count() > limits_.seconds * share;
}

bool Search::fails(const Case& candidate) {
  if (spent()) return false;
  ++probes_;
  std::optional<Outcome> outcome = probe_(candidate);
  if (outcome) outcome_ = std::move(*outcome);
  return outcome.has_value();
}

bool Search::accept(std::optional<Case> candidate) {
  if (!candidate || (candidate->graph.outputs.empty() && !candidate->sequence)) return false;
  const Size size = size_of(*candidate);
  if (size > size_ || !fails(*candidate)) return false;
  best_ = std::move(*candidate);
  size_ = size;
  return true;
}

bool Search::accept_smaller(std::optional<Case> candidate) {
  return candidate && size_of(*candidate) < size_ && accept(std::move(candidate));
}

}  // namespace tenon::conformance::shrink
