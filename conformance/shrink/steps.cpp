// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer 4: fewer calls, then smaller numbers.
#include "conformance/shrink/minimise.hpp"
#include "conformance/shrink/search.hpp"

namespace tenon::conformance::shrink {
namespace {

bool with_steps(Search& search, std::vector<abi::SequenceStep> steps) {
  Case candidate = search.best();
  candidate.sequence->steps = std::move(steps);
  return search.accept(std::move(candidate));
}

bool put(Search& search, size_t step, size_t at, int64_t value) {
  std::vector<abi::SequenceStep> steps = search.best().sequence->steps;
  steps[step].numbers[at] = value;
  return with_steps(search, std::move(steps));
}

/// Zero, or the smallest that a bisection finds.
bool lower(Search& search, size_t step, size_t at) {
  const int64_t was = search.best().sequence->steps[step].numbers[at];
  if (was == 0) return false;
  if (put(search, step, at, 0)) return true;
  if (was < 0 && was != INT64_MIN && put(search, step, at, -was)) return true;
  int64_t low = 0, high = was;
  while ((high > low ? high - low : low - high) > 1 && !search.spent()) {
    const int64_t middle = low + (high - low) / 2;
    (put(search, step, at, middle) ? high : low) = middle;
  }
  return high != was;
}

}  // namespace

bool shrink_steps(Search& search) {
  bool any = false;
  for (bool again = true; again && !search.spent();) {
    const size_t before = search.best().sequence->steps.size();
    minimise(search.best().sequence->steps, [&](const std::vector<abi::SequenceStep>& steps) {
      return !search.spent() && with_steps(search, steps);
    });
    again = search.best().sequence->steps.size() < before;
    for (size_t step = 0; step < search.best().sequence->steps.size(); ++step)
      for (size_t at = 0; at < search.best().sequence->steps[step].numbers.size(); ++at)
        again = lower(search, step, at) || again;
    any = any || again;
  }
  return any;
}

}  // namespace tenon::conformance::shrink
