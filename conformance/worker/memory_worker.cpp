// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A worker for a device that computes nothing: rules and sequences of layer 4, and checks of what
// it holds.
#include "conformance/abi/harness.hpp"
#include "conformance/cases/abi/memory_cases.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/reproducer.hpp"
#include "conformance/judge/memory_checks.hpp"
#include "conformance/worker/worker.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::worker {
namespace {

class MemoryWorker final : public Worker {
 public:
  MemoryWorker(const Target& target, Channel& channel)
      : Worker(channel), harness_(target), api_(target) {}

  bool computes() const { return harness_.computes(); }

  DeviceFacts facts() const override {
    return {.id = harness_.device_id(),
            .name = harness_.device_name(),
            .declaration = "memory only",
            .plugin = harness_.plugin_path(),
            .properties = harness_.properties(),
            .memory_only = true};
  }

  Probed probe() override {
    const std::string wrong = harness_.known_answer();
    return {!wrong.empty(), wrong};
  }

  bool run_range(uint64_t seed, uint64_t begin, uint64_t end) override {
    Generator generator(seed, builder_);
    for (uint64_t index = begin; index < end; ++index)
      if (!run(generator.make(index))) return false;
    return true;
  }

  bool run_text(const std::string& text) override {
    try {
      Reproducer reproducer = parse_reproducer(text, builder_, "case");
      for (const Case& before : reproducer.after) judge(before, [] {});
      reproducer.test.index = 0;
      return run(reproducer.test);
    } catch (const Error& error) {
      announce(Case{}, 0);
      channel_.send(Ended{0, failed("text", error.what())});
      return true;
    }
  }

 private:
  bool run(const Case& test) {
    announce(test, 0);
    Outcome outcome = judge(test, [&] { channel_.send(Entered{judge::RunPhase::kCompile}); });
    const std::string damage = channel_.damage();
    if (!damage.empty()) outcome = {Status::kCrash, "protocol", damage};
    channel_.send(Ended{test.index, outcome});
    return outcome.status != Status::kDeviceLost && damage.empty();
  }

  Outcome judge(const Case& test, const std::function<void()>& alive) {
    if (!test.sequence)
      return {.status = Status::kUnsupported, .text = "the device computes nothing"};
    if (const std::string check = abi::memory_check_of(test); !check.empty())
      return harness_.run(check);
    return api_.run(test, alive);
  }

  Builder builder_;
  judge::MemoryHarness harness_;
  abi::ApiHarness api_;
};

}  // namespace

std::unique_ptr<Worker> make_memory_worker(const Target& target, Channel& channel) {
  try {
    auto worker = std::make_unique<MemoryWorker>(target, channel);
    if (worker->computes()) return nullptr;
    return worker;
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace tenon::conformance::worker
