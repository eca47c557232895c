// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which cases have to run before one that passes alone.
#include <chrono>
#include <map>
#include <numeric>

#include "conformance/campaign/recurrence.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/shrink/minimise.hpp"

namespace tenon::conformance::campaign {
namespace {

/// What was run long ago hardly matters, and takes long to run again.
constexpr uint64_t kWindows[] = {64, 512, 4096};
constexpr double kWindowSeconds = 60;  ///< for the cases of one window

class HistorySearch {
 public:
  HistorySearch(Rerun& rerun, const Reproducer& reproducer, Builder& builder)
      : rerun_(rerun), reproducer_(reproducer), builder_(builder) {
    if (!reproducer.apart) return;
    const auto ran = rerun.in_order(reproducer.test.seed, {reproducer.test.index}, kWindowSeconds);
    if (!ran.empty()) alone_ = ran.back().outcome;
  }

  /// The fewest of them, if the case fails after all of them and, written out, after those few.
  std::optional<std::vector<Case>> fewest_of(std::vector<uint64_t> indices, double seconds) {
    if (!fails_after(indices)) return std::nullopt;
    const auto begin = std::chrono::steady_clock::now();
    indices = shrink::minimise(std::move(indices), [&](const std::vector<uint64_t>& fewer) {
      const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
      return used.count() < seconds && !rerun_.exhausted() && fails_after(fewer);
    });
    Reproducer whole = reproducer_;
    Generator generator(reproducer_.test.seed, builder_);
    for (const uint64_t index : indices)
      whole.after.push_back(generator.make(index, attempts_.at(index)));
    if (!rerun_.fails_as_wanted(rerun_.fresh(whole))) return std::nullopt;
    return std::move(whole.after);
  }

 private:
  bool fails_after(std::vector<uint64_t> indices) {
    indices.push_back(reproducer_.test.index);
    const std::vector<Finished> ran =
        rerun_.in_order(reproducer_.test.seed, indices, kWindowSeconds);
    if (ran.empty()) return false;
    for (const Finished& finished : ran) attempts_[finished.index] = finished.attempt;
    const Outcome& last = ran.back().outcome;
    return alone_ ? rerun_.differs(*alone_, last) : rerun_.fails_as_wanted(last);
  }

  Rerun& rerun_;
  const Reproducer& reproducer_;
  Builder& builder_;
  std::optional<Outcome> alone_;
  std::map<uint64_t, uint64_t> attempts_;  ///< which values each case had, by index
};

}  // namespace

std::optional<std::vector<Case>> find_history(Rerun& rerun, const Reproducer& reproducer,
                                              const Finished& found, double seconds,
                                              Builder& builder) {
  HistorySearch search(rerun, reproducer, builder);
  if (!found.before.empty()) return search.fewest_of(found.before, seconds);
  uint64_t first = found.index;
  for (const uint64_t window : kWindows) {
    if (first <= found.process_begin || rerun.exhausted()) break;
    first = std::max(found.process_begin, found.index - std::min(found.index, window));
    std::vector<uint64_t> indices(found.index - first);
    std::iota(indices.begin(), indices.end(), first);
    if (auto history = search.fewest_of(std::move(indices), seconds)) return history;
  }
  return std::nullopt;
}

}  // namespace tenon::conformance::campaign
