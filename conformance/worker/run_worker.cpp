// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A worker that runs cases on a device.
#include <optional>

#include "conformance/abi/call_watch.hpp"
#include "conformance/abi/harness.hpp"
#include "conformance/cases/abi/rules.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/reach.hpp"
#include "conformance/cases/reproducer.hpp"
#include "conformance/judge/float_control.hpp"
#include "conformance/judge/harness.hpp"
#include "conformance/worker/known_answer.hpp"
#include "conformance/worker/worker.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::worker {
namespace {

constexpr uint64_t kAttempts = 5;

/// The reference does not know what the case means.
struct ReferenceFault {
  std::string text;
};

class RunWorker final : public Worker {
 public:
  RunWorker(const Target& target, Channel& channel)
      : Worker(channel), target_(target), harness_(target), reached_(reach_size()) {
    control_.restore();  // api.process_untouched says it
  }

  DeviceFacts facts() const override {
    return {.id = harness_.device_id(),
            .name = harness_.device_name(),
            .declaration = harness_.declaration(),
            .plugin = harness_.plugin_path(),
            .properties = harness_.properties(),
            .deterministic = harness_.deterministic(),
            .async = harness_.async()};
  }

  Probed probe() override { return known_answer(harness_, builder_); }

  bool run_range(uint64_t seed, uint64_t begin, uint64_t end) override {
    Generator generator(seed, builder_);
    for (uint64_t index = begin; index < end; ++index)
      if (!run_index(generator, index)) return false;
    return true;
  }

  bool run_text(const std::string& text) override {
    Case test;
    try {
      Reproducer reproducer = parse_reproducer(text, builder_, "case");
      for (Case& before : reproducer.after)
        if (judge(before, nullptr, true).status == Status::kDeviceLost) return give_up(before);
      test = std::move(reproducer.test);
    } catch (const std::exception& error) {
      announce(Case{}, 0);
      channel_.send(Ended{0, tool_error("text", error.what())});
      return true;
    }
    test.index = 0;
    announce(test, 0);
    return run(std::move(test), nullptr);
  }

 private:
  /// The history of a case took the device with it.
  bool give_up(const Case& before) {
    announce(Case{}, 0);
    channel_.send(
        Ended{0, failed("earlier", fmt::format("the device was lost by the case before it, {}",
                                               case_name(before.seed, before.index)))});
    return false;
  }

  bool run_index(Generator& generator, uint64_t index) {
    Case test;
    test.index = index;
    try {
      test = generator.make(index);
    } catch (const std::exception& error) {
      announce(test, 0);
      channel_.send(Ended{index, tool_error("generator", error.what())});
      return true;
    }
    announce(test, 0);
    return run(std::move(test), &generator);
  }

  bool run(Case test, Generator* generator) {
    Outcome outcome;
    abi::take_process_change();  // of the known answer
    try {
      outcome = judge(test, generator, false);
    } catch (const ReferenceFault& fault) {
      outcome = tool_error("reference", fault.text);
    } catch (const std::exception& error) {
      outcome = failed("error", error.what());
    }
    control_.restore();
    const std::string change = abi::take_process_change();
    if (!change.empty() && !is_failure(outcome.status))
      outcome = failed("error", abi::with_rule(change, abi::kRuleOfProcess));
    const std::string damage = channel_.damage();
    if (!damage.empty()) outcome = {Status::kCrash, "protocol", damage};
    if (outcome.status == Status::kFail)
      outcome.text = abi::with_rule(std::move(outcome.text), abi::rule_of_kind(outcome.kind));
    channel_.send(Ended{test.index, outcome, newly_reached(test, outcome)});
    // Damage to a guard zone stays, and what a device failed at may keep later work from running;
    // so a fresh process goes on.
    const bool stays = outcome.kind == "guard" || outcome.kind == "error";
    return outcome.status != Status::kDeviceLost && !stays && damage.empty();
  }

  /// `silent`: the parent hears nothing of it.
  Outcome judge(Case& test, Generator* generator, bool silent) {
    const judge::Progress progress = [&](judge::RunPhase phase) {
      if (!silent) channel_.send(Entered{phase});
    };
    // Any step of it may compile.
    if (test.sequence) return api().run(test, [&] { progress(judge::RunPhase::kCompile); });
    if (test.refusal || test.steps) return harness_.run(test, nullptr, progress);
    judge::Expectation expectation = expect(test);
    std::string vacuous = judge::vacuity(expectation);
    uint64_t attempt = 0;
    while (generator && !vacuous.empty() && attempt + 1 < kAttempts) {
      test = generator->make(test.index, ++attempt);
      expectation = expect(test);
      vacuous = judge::vacuity(expectation);
    }
    if (attempt > 0 && !silent) announce(test, attempt);
    Outcome outcome = harness_.run(test, &expectation, progress);
    if (outcome.status == Status::kPass && !vacuous.empty()) {
      outcome.status = Status::kVacuous;
      outcome.text = vacuous;
    }
    return outcome;
  }

  judge::Expectation expect(const Case& test) const {
    try {
      return judge::expect(test, harness_.profile());
    } catch (const std::exception& error) {
      throw ReferenceFault{error.what()};
    }
  }

  /// Layer 4 has the plugin to itself, beside the core's device.
  abi::ApiHarness& api() {
    if (!api_) api_.emplace(target_);
    return *api_;
  }

  /// What was refused was not tried.
  std::vector<uint32_t> newly_reached(const Case& test, const Outcome& outcome) {
    std::vector<uint32_t> fresh;
    if (outcome.status == Status::kUnsupported) return fresh;
    for (const uint32_t cell : reach_of(test)) {
      if (reached_.at(cell)) continue;
      reached_[cell] = true;
      fresh.push_back(cell);
    }
    return fresh;
  }

  const judge::FloatControl control_;
  const Target target_;
  Builder builder_;
  judge::Harness harness_;
  std::optional<abi::ApiHarness> api_;
  std::vector<bool> reached_;
};

}  // namespace

std::unique_ptr<Worker> make_run_worker(const Target& target, Channel& channel) {
  return std::make_unique<RunWorker>(target, channel);
}

}  // namespace tenon::conformance::worker
