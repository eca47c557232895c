// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/worker/run_reproducer.hpp"

#include "core/support/error.hpp"

namespace tenon::conformance::worker {
namespace {

constexpr int kMostAgain = 4;  ///< processes that are compared with the first one

/// Of a process that has run nothing else.
Outcome run_fresh(WorkerClient& client, const Reproducer& reproducer) {
  client.renew();
  return client.run_text(write_reproducer(reproducer));
}

/// Whatever else is wrong with the case: then that is what there is to say.
bool ended_badly(const Outcome& outcome) {
  return is_failure(outcome.status) && outcome.status != Status::kFail;
}

Outcome run_apart(WorkerClient& client, const Reproducer& reproducer) {
  Reproducer alone = reproducer;
  alone.after.clear();
  Outcome first = run_fresh(client, alone);
  if (is_failure(first.status)) return first;
  const bool has_history = !reproducer.after.empty();
  Outcome again;
  for (int i = 0; i < (has_history ? 1 : kMostAgain); ++i) {
    again = run_fresh(client, reproducer);
    if (ended_badly(again)) return again;
    if (agree(first, again, client.facts().deterministic)) continue;
    if (!has_history)
      return failed(kProcessKind, fmt::format("each process has its own: {}, {}",
                                              answer_text(first), answer_text(again)));
    return failed(kHistoryKind,
                  fmt::format("depends on what its process ran before: {} in one of its own, {} "
                              "after other cases",
                              answer_text(first), answer_text(again)));
  }
  return again;
}

}  // namespace

bool agree(const Outcome& a, const Outcome& b, bool bits) {
  return a.status == b.status && (!bits || a.digest == b.digest);
}

std::string answer_text(const Outcome& outcome) {
  if (outcome.status == Status::kPass) return fmt::format("bits {:016x}", outcome.digest);
  return fmt::format("{} {}", status_name(outcome.status), outcome.text);
}

Outcome run_reproducer(WorkerClient& client, const Reproducer& reproducer) {
  if (reproducer.apart) return run_apart(client, reproducer);
  return client.run_text(write_reproducer(reproducer));
}

}  // namespace tenon::conformance::worker
