// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/recheck.hpp"

#include "conformance/cases/random.hpp"
#include "conformance/worker/run_reproducer.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::campaign {
namespace {

constexpr size_t kBatch = 32;  ///< cases to a fresh process
constexpr size_t kAlone = 2;   ///< processes of its own for one that came out otherwise
constexpr uint64_t kSalt = 0x7265636865636b;

}  // namespace

Recheck::Recheck(worker::WorkerOptions worker, uint64_t seed, uint64_t one_in, bool bits)
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
  if (fresh) {
    client_.renew();
    ran_.clear();
  }
  ran_.push_back(index);
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
  if (worker::agree(again.outcome, batch_.front().outcome, bits_)) return next();
  verifying_ = true;
  otherwise_ = std::move(again.outcome);
  ran_otherwise_.assign(ran_.begin(), ran_.end() - 1);
  alone_.clear();
  give(batch_.front().index, true);
}

void Recheck::verify(Finished again) {
  alone_.push_back(std::move(again.outcome));
  if (alone_.size() < kAlone) return give(batch_.front().index, true);
  Finished failure = batch_.front();
  const Outcome before = std::move(failure.outcome);
  const Outcome& now = alone_[0];
  if (worker::agree(now, alone_[1], bits_)) {
    if (worker::agree(now, before, bits_)) failure.before = ran_otherwise_;
    failure.outcome =
        failed(worker::kHistoryKind,
               fmt::format(
                   "depends on what its process ran before: {} in the one that began with case {}, "
                   "{} in another order, {} in one of its own",
                   worker::answer_text(before), failure.process_begin,
                   worker::answer_text(otherwise_), worker::answer_text(now)));
  } else {
    failure.outcome =
        failed(worker::kProcessKind,
               fmt::format("each process has its own: {}, {}, {}", worker::answer_text(before),
                           worker::answer_text(now), worker::answer_text(alone_[1])));
  }
  failures_.push_back(std::move(failure));
  next();
}

}  // namespace tenon::conformance::campaign
