// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Confirms and shrinks through workers.
#include "conformance/campaign/reduce_failure.hpp"

#include <algorithm>

#include "conformance/cases/files.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/reproducer.hpp"
#include "conformance/shrink/shrink.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

constexpr int kConfirmations = 3;

bool same_failure(const Outcome& a, const Outcome& b) {
  return a.status == b.status && a.kind == b.kind;
}

}  // namespace

std::string target_arguments(const Target& target) {
  const std::string name = target.name.empty() ? "" : " --target " + target.name;
  if (target.plugin) return fmt::format("--plugin {}{}", target.plugin->string(), name);
  return fmt::format("--backend {}{}", target.backend, name);
}

Failure FailureReducer::describe(const Finished& finished) const {
  Failure failure;
  failure.name = case_name(options_.seed, finished.index);
  failure.status = finished.outcome.status;
  failure.kind = finished.outcome.kind;
  failure.op = finished.cell.op;
  failure.dtype = finished.cell.dtype;
  failure.layout = finished.cell.layout;
  failure.text = finished.outcome.text;
  failure.replay = fmt::format("tenon-conformance replay {} {}", failure.name,
                               target_arguments(options_.worker.target));
  return failure;
}

bool FailureReducer::confirm(const Case& test, const Outcome& wanted, Outcome& seen) {
  const std::string text = write_reproducer({test, wanted, ""});
  for (int i = 0; i < kConfirmations; ++i) {
    WorkerOptions fresh = options_.worker;
    fresh.journal.clear();
    WorkerClient client(fresh);
    seen = client.run_text(text);
    if (!same_failure(seen, wanted)) return false;
  }
  return true;
}

Case FailureReducer::shrunk(const Case& test, const Outcome& wanted) {
  WorkerOptions quick = options_.worker;
  quick.journal.clear();
  if (wanted.status == Status::kTimeout) {  // the final confirmation waits in full
    quick.run_seconds = std::min(quick.run_seconds, 1.0);
    quick.compile_seconds = std::min(quick.compile_seconds, 3.0);
  }
  WorkerClient client(quick);
  return shrink(
      test,
      [&](const Case& candidate) {
        return same_failure(client.run_text(write_reproducer({candidate, wanted, ""})), wanted);
      },
      builder_, {.seconds = options_.shrink_seconds});
}

Failure FailureReducer::reduce(const Finished& finished) {
  Failure failure = describe(finished);
  Case test = Generator(options_.seed, builder_).make(finished.index, finished.attempt);
  Outcome outcome = finished.outcome, seen;
  if (!confirm(test, outcome, seen)) {
    failure.status = Status::kFlaky;
    failure.text +=
        fmt::format("; and in a fresh process: {} {}", status_name(seen.status), seen.text);
    return failure;
  }
  if (!test.refusal) {
    const Case small = shrunk(test, outcome);
    if (confirm(small, outcome, seen)) {
      test = small;
      outcome = seen;
    }
  }
  const Target& target = options_.worker.target;
  failure.text = outcome.text;
  failure.reproducer =
      write_reproducer({test, outcome, target.plugin ? target.plugin->string() : target.backend});
  if (options_.folder) {
    const auto folder = *options_.folder / "failures";
    std::filesystem::create_directories(folder);
    const auto path = folder / fmt::format("{}-{}.tn", options_.seed, finished.index);
    write_file(path, failure.reproducer);
    failure.replay =
        fmt::format("tenon-conformance replay {} {}", path.string(), target_arguments(target));
  }
  return failure;
}

}  // namespace tenon::conformance
