// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sample of the passing cases runs again, in fresh processes and in another order: a
// deterministic device gives the same bits whatever its process did before.
#pragma once

#include <deque>
#include <vector>

#include "conformance/worker/worker_client.hpp"

namespace tenon::conformance::campaign {

class Recheck {
 public:
  /// `bits`: the device declares that it is deterministic, so digests are compared and not only
  /// verdicts. `one_in` 0: none is sampled.
  Recheck(worker::WorkerOptions worker, uint64_t seed, uint64_t one_in, bool bits);

  void offer(const Finished& finished);  ///< keeps it if it is of the sample
  /// Goes on as far as it can without waiting. `rest`: does not wait for more to come.
  void poll(bool rest);
  bool busy() const { return !batch_.empty() || verifying_; }
  int fd() const { return client_.fd(); }
  double seconds_left() const { return client_.idle() ? 1 : client_.seconds_left(); }
  /// Cases that came out otherwise, now FAIL of kind "history" or "fresh process".
  std::vector<Finished> take_failures() { return std::exchange(failures_, {}); }
  /// What is still to be run again.
  std::vector<Finished> pending() const;
  void restore(std::vector<Finished> pending) { waiting_ = std::move(pending); }

 private:
  void give(uint64_t index, bool fresh);
  void next();
  void take(Finished again);
  void verify(Finished again);

  worker::WorkerClient client_;
  uint64_t seed_, one_in_;
  bool bits_;
  std::vector<Finished> waiting_;  ///< as they were the first time
  std::deque<Finished> batch_;     ///< its first one is running
  std::vector<uint64_t> ran_;      ///< by the process, that one included
  bool verifying_ = false;         ///< the first of the batch came out otherwise
  std::vector<Outcome> alone_;     ///< what it is in a process of its own
  Outcome otherwise_;
  std::vector<uint64_t> ran_otherwise_;  ///< before that
  std::vector<Finished> failures_;
};

}  // namespace tenon::conformance::campaign
