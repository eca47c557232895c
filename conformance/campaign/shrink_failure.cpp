// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/shrink_failure.hpp"

#include <chrono>

#include "conformance/shrink/minimise.hpp"
#include "conformance/shrink/shrink.hpp"

namespace tenon::conformance::campaign {
namespace {

constexpr int kLookedAt = 8;          ///< of so many smaller cases of a warm process one
constexpr double kCaseShare = 0.5;    ///< of the time, where there is a history too
constexpr double kFewerShare = 0.25;  ///< of what is left: fewer cases before smaller ones

bool is_shrinkable(const Case& test) {
  return !test.refusal && !(test.sequence && !test.sequence->check.empty());
}

class FailureShrinker {
 public:
  FailureShrinker(Rerun& rerun, const Reproducer& failing, bool rarely, double seconds,
                  Builder& builder)
      : rerun_(rerun), rarely_(rarely), seconds_(seconds), builder_(builder), best_{failing, ""} {}

  ShrunkFailure run() {
    if (is_shrinkable(best_.reproducer.test)) shrink_cases();
    if (!best_.reproducer.after.empty()) shrink_history();
    return best_;
  }

 private:
  void shrink_cases() {
    // A lost device takes its process with it, and two processes are compared fresh.
    const bool may_be_warm =
        best_.reproducer.after.empty() && !best_.reproducer.apart && !is_expensive_;
    if (may_be_warm && shrink_case(true)) return;
    if (left() > 0) shrink_case(false);
  }

  double left() const {
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin_;
    return seconds_ - used.count();
  }

  std::optional<Outcome> fails(const Reproducer& tried, bool is_warm) {
    for (int i = 0; i < (rarely_ ? kPatience : 1) && !rerun_.exhausted(); ++i) {
      Outcome outcome = is_warm ? rerun_.warm(tried) : rerun_.fresh(tried);
      if (rerun_.fails_as_wanted(outcome)) return outcome;
    }
    return std::nullopt;
  }

  /// Takes it over if it fails in fresh processes.
  bool take(Reproducer small) {
    Outcome seen;
    const int runs = rarely_ ? kConfirmations * kPatience : kConfirmations;
    const int failures = rerun_.count(small, runs, seen, true);
    if (rarely_ ? failures == 0 : failures < runs) return false;
    small.outcome = std::move(seen);
    best_.reproducer = std::move(small);
    return true;
  }

  bool take_case(const shrink::Shrunk& found, bool with_history) {
    Reproducer small = best_.reproducer;
    small.test = found.test;
    if (!with_history) small.after.clear();
    if (!take(std::move(small))) return false;
    if (!found.transform.empty()) best_.transform = found.transform;
    return true;
  }

  /// Probes in a warm process are quicker, but what it ran before may be why a candidate fails in
  /// it. So now and then one is looked at in a fresh process; if it passes there, the last one that
  /// did not is taken up again, in fresh processes only. False if nothing is confirmed.
  bool shrink_case(bool is_warm) {
    const Reproducer original = best_.reproducer;
    const double share = original.after.empty() ? 1 : kCaseShare;
    int accepted = 0;
    bool misled = false;
    std::optional<Case> sure;
    const auto probe = [&](const Case& candidate) -> std::optional<Outcome> {
      if (misled) return std::nullopt;
      Reproducer tried = original;
      tried.test = candidate;
      std::optional<Outcome> outcome = fails(tried, is_warm);
      if (!outcome || !is_warm || ++accepted % kLookedAt != 0) return outcome;
      misled = !fails(tried, false);
      if (misled) return std::nullopt;
      sure = candidate;
      return outcome;
    };
    const shrink::Shrunk found =
        shrink::shrink(original.test, original.outcome, probe, builder_,
                       {.seconds = left() * share, .is_expensive = is_expensive_});
    if (!misled) {
      // Cases that had to run first are perhaps not needed any more.
      if (!original.after.empty() && !original.apart && take_case(found, false)) return true;
      if (take_case(found, true)) return true;
    }
    if (sure) take_case({*sure, found.transform}, true);
    return false;
  }

  /// Fewer cases, then smaller ones.
  void shrink_history() {
    Reproducer small = best_.reproducer;
    const double enough = left() * (1 - kFewerShare);
    small.after = shrink::minimise(small.after, [&](const std::vector<Case>& fewer) {
      Reproducer tried = small;
      tried.after = fewer;
      return left() > enough && fails(tried, false);
    });
    for (size_t i = 0; i < small.after.size(); ++i) {
      const auto probe = [&](const Case& candidate) -> std::optional<Outcome> {
        Reproducer tried = small;
        tried.after[i] = candidate;
        if (!fails(tried, false)) return std::nullopt;
        return Outcome{};  // what is seen is another case's
      };
      const double share = left() / static_cast<double>(small.after.size() - i);
      small.after[i] = shrink::shrink(small.after[i], {}, probe, builder_, {.seconds = share}).test;
    }
    take(std::move(small));
  }

  Rerun& rerun_;
  const bool rarely_, is_expensive_ = rerun_.wanted().status == Status::kDeviceLost;
  const double seconds_;
  Builder& builder_;
  ShrunkFailure best_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

ShrunkFailure shrink_failure(Rerun& rerun, const Reproducer& failing, bool rarely, double seconds,
                             Builder& builder) {
  return FailureShrinker(rerun, failing, rarely, seconds, builder).run();
}

}  // namespace tenon::conformance::campaign
