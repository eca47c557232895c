// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/recheck.hpp"

#include "conformance/cases/random.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

constexpr size_t kBatch = 32;  ///< cases to a fresh process
constexpr size_t kAlone = 2;   ///< processes of its own for one that came out otherwise
constexpr uint64_t kSalt = 0x7265636865636b;

std::string words(const Outcome& outcome) {
  if (outcome.status == Status::kPass) return fmt::format("bits {:016x}", outcome.digest);
  return fmt::format("{} {}", status_name(outcome.status), outcome.text);
}

}  // namespace

Recheck::Recheck(WorkerOptions worker, uint64_t seed, uint64_t one_in, bool bits)
    : client_(std::move(worker)), seed_(seed), one_in_(one_in), bits_(bits) {}

void Recheck::offer(const Finished& finished) {
  if (one_in_ == 0 || finished.outcome.status != Status::kPass || finished.outcome.digest == 0)
    return;
  if (mix(mix(seed_, kSalt), finished.index) % one_in_ != 0) return;
  waiting_.push_back({finished.index,
                      finished.attempt,
                      finished.cell,
                      {.digest = finished.outcome.digest},
                      {},
                      finished.process_begin});
}

std::vector<Finished> Recheck::pending() const {
  std::vector<Finished> out(batch_.begin(), batch_.end());
  out.insert(out.end(), waiting_.begin(), waiting_.end());
  return out;
}

bool Recheck::same(const Outcome& a, const Outcome& b) const {
  return a.status == b.status && (!bits_ || a.digest == b.digest);
}

void Recheck::poll(bool rest) {
  if (!busy()) {
    if (waiting_.empty() || (waiting_.size() < kBatch && !rest)) return;
    batch_.assign(waiting_.rbegin(), waiting_.rend());
    waiting_.clear();
    give(batch_.front().index, true);
  }
  for (Finished& again : client_.poll(0)) take(std::move(again));
  // Without a worker nothing can be said; the loop's own workers tell of it.
  if (client_.hopeless()) {
    batch_.clear();
    verifying_ = false;
  }
}

void Recheck::give(uint64_t index, bool fresh) {
  if (fresh) client_.renew();
  client_.give_range(seed_, index, index + 1);
}

void Recheck::next() {
  verifying_ = false;
  batch_.pop_front();
  if (!batch_.empty())
    give(batch_.front().index, false);
  else
    client_.renew();
}

void Recheck::take(Finished again) {
  if (verifying_) return verify(std::move(again));
  if (same(again.outcome, batch_.front().outcome)) return next();
  verifying_ = true;
  otherwise_ = std::move(again.outcome);
  alone_.clear();
  give(batch_.front().index, true);
}

void Recheck::verify(Finished again) {
  alone_.push_back(std::move(again.outcome));
  if (alone_.size() < kAlone) return give(batch_.front().index, true);
  Finished failure = batch_.front();
  const std::string before = words(failure.outcome);
  if (same(alone_[0], alone_[1]))
    failure.outcome =
        failed("order",
               fmt::format(
                   "depends on what its process ran before: {} in the one that began with case {}, "
                   "{} in another order, {} in one of its own",
                   before, failure.process_begin, words(otherwise_), words(alone_[0])));
  else
    failure.outcome =
        failed("fresh process", fmt::format("each process has its own: {}, {}, {}", before,
                                            words(alone_[0]), words(alone_[1])));
  failures_.push_back(std::move(failure));
  next();
}

}  // namespace tenon::conformance
