// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Edits of the sequence of choices: what makes the sequence shorter, and then its numbers smaller,
// makes a simpler case (MacIver and Donaldson, "Test-Case Reduction via Test-Case Generation:
// Insights from the Hypothesis Reducer", ECOOP 2020).
#include <set>

#include "conformance/cases/generator.hpp"
#include "conformance/shrink/search.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::shrink {
namespace {

using Draws = std::vector<uint64_t>;

/// What later passes, which know the graph, shall still have.
constexpr double kDrawsShare = 0.4;
constexpr Part kOrder[] = {Part::kOutput, Part::kNode,      Part::kDimension, Part::kLayout,
                           Part::kDType,  Part::kTransform, Part::kOther};

bool simpler(const Draws& a, const Draws& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

class DrawShrinker {
 public:
  explicit DrawShrinker(Search& search)
      : search_(search), generator_(search.best().seed, search.builder()) {}

  bool run() {
    bool any = false;
    for (bool again = true; again && !spent();) {
      again = false;
      for (const Part part : kOrder) {
        again = without(part) || again;
        again = zeroed(part) || again;
        if (part != Part::kOutput && part != Part::kNode) again = lowered(part) || again;
      }
      again = lowered() || again;
      any = any || again;
    }
    return any;
  }

 private:
  bool spent() const { return search_.spent(kDrawsShare); }
  const Origin& origin() const { return search_.best().origin; }

  bool attempt(Draws draws) {
    if (spent() || !tried_.insert(draws).second) return false;
    Origin edited = origin();
    edited.draws = std::move(draws);
    std::optional<Case> candidate;
    try {
      candidate = generator_.remake(search_.best(), edited);
    } catch (const Error&) {
      return false;  // there is no such case
    }
    if (!simpler(candidate->origin.draws, origin().draws))
      return search_.accept_smaller(std::move(candidate));
    return search_.accept(std::move(candidate));
  }

  std::vector<Stretch> stretches(Part part) const {
    std::vector<Stretch> out;
    for (const Stretch& stretch : origin().stretches)
      if (stretch.part == part && stretch.begin < stretch.end) out.push_back(stretch);
    return out;
  }

  /// The sequence without ever smaller groups of neighbouring stretches, from the last to the
  /// first.
  bool without(Part part) {
    bool any = false;
    for (size_t group = stretches(part).size(); group > 0 && !spent(); group /= 2) {
      std::vector<Stretch> all = stretches(part);
      for (size_t end = all.size(); end > 0 && !spent();) {
        const size_t begin = end > group ? end - group : 0;
        Draws draws = origin().draws;
        const auto from = draws.begin();
        draws.erase(from + all[begin].begin, from + all[end - 1].end);
        if (attempt(std::move(draws))) {
          any = true;
          all = stretches(part);
          end = std::min(begin, all.size());
        } else {
          end = begin;
        }
      }
    }
    return any;
  }

  /// Each stretch as simple as its part can be.
  bool zeroed(Part part) {
    bool any = false;
    for (size_t i = 0; i < stretches(part).size() && !spent(); ++i) {
      const Stretch stretch = stretches(part)[i];
      Draws draws = origin().draws;
      std::fill(draws.begin() + stretch.begin, draws.begin() + stretch.end, 0);
      any = attempt(std::move(draws)) || any;
    }
    return any;
  }

  bool lowered(Part part) {
    bool any = false;
    for (size_t i = 0; i < stretches(part).size() && !spent(); ++i)
      for (size_t at = stretches(part)[i].begin;
           i < stretches(part).size() && at < stretches(part)[i].end; ++at)
        any = lower(at) || any;
    return any;
  }

  bool lowered() {
    bool any = false;
    for (size_t at = 0; at < origin().draws.size() && !spent(); ++at) any = lower(at) || any;
    return any;
  }

  /// One draw becomes zero, or the smallest that a bisection finds.
  bool lower(size_t at) {
    const uint64_t was = origin().draws[at];
    if (was == 0) return false;
    if (put(at, 0)) return true;
    if (was > 1 && !put(at, was - 1)) {
      // Not monotonic, or already the least.
      return put(at, was / 2);
    }
    if (was == 1) return false;
    uint64_t low = 0, high = was - 1;  // low does not fail
    while (high - low > 1 && !spent() && at < origin().draws.size()) {
      const uint64_t middle = low + (high - low) / 2;
      (put(at, middle) ? high : low) = middle;
    }
    return true;
  }

  bool put(size_t at, uint64_t value) {
    if (at >= origin().draws.size()) return false;
    Draws draws = origin().draws;
    draws[at] = value;
    return attempt(std::move(draws));
  }

  Search& search_;
  Generator generator_;
  std::set<Draws> tried_;
};

}  // namespace

bool shrink_draws(Search& search) {
  if (search.best().origin.draws.empty()) return false;
  return DrawShrinker(search).run();
}

}  // namespace tenon::conformance::shrink
