// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A worker for a target that need not be there: it only compiles.
#include "conformance/cases/generator.hpp"
#include "conformance/judge/compile.hpp"
#include "conformance/worker/worker.hpp"

namespace tenon::conformance::worker {
namespace {

class CompileWorker final : public Worker {
 public:
  CompileWorker(const Target& target, Channel& channel) : Worker(channel), harness_(target) {}

  DeviceFacts facts() const override {
    return {.id = harness_.compiler().who(),
            .name = "compiled only",
            .declaration = "none: nothing runs",
            .plugin = harness_.compiler().plugin_path()};
  }

  Probed probe() override { return {}; }

  bool run_range(uint64_t seed, uint64_t begin, uint64_t end) override {
    Generator generator(seed, harness_.builder());
    for (uint64_t index = begin; index < end; ++index) {
      const Case test = generator.make_plain(index);
      announce(test, 0);
      channel_.send(Ended{index, harness_.run(test)});
    }
    return true;
  }

  bool run_text(const std::string&) override {
    announce(Case{}, 0);
    channel_.send(Ended{0, failed("text", "a target only compiles")});
    return true;
  }

 private:
  judge::CompileHarness harness_;
};

}  // namespace

std::unique_ptr<Worker> make_compile_worker(const Target& target, Channel& channel) {
  return std::make_unique<CompileWorker>(target, channel);
}

}  // namespace tenon::conformance::worker
