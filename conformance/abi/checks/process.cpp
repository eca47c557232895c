// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks in a process that has its own ways: rule 39 is about what it was, not about what most are.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <optional>

#include "conformance/abi/call_watch.hpp"
#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/checks/floats.hpp"
#include "conformance/abi/isolated_process.hpp"
#include "conformance/abi/saved.hpp"
#include "core/plugin/process_state.hpp"

namespace tenon::conformance::abi::checks {
namespace {

/// The process is put back at the end, whatever was found.
class OwnWay {
 public:
  explicit OwnWay(void (*take)()) : before_(ProcessState::now()) {
    take();
    accept_process();
  }
  ~OwnWay() {
    before_.put_back();
    accept_process();
  }
  OwnWay(const OwnWay&) = delete;
  OwnWay& operator=(const OwnWay&) = delete;

 private:
  const ProcessState before_;
};

/// Every kind of call, on whole numbers.
void use_all(const CheckContext& c) {
  tn_device* refused = nullptr;
  c.table().device_open(c.subject.index, "no_such_option_is_known=1", &refused, nullptr);
  if (refused) c.table().device_close(refused);
  const OpenDevice device = c.open();
  if (device.submits()) {
    const MemoryHandle memory = any_memory(device, 4096);
    const tn_command fill = fill_command(memory.get(), 0, 4096, 7, 4);
    for (int i = 0; i < 2; ++i) device.run({&fill, 1});
    std::vector<uint8_t> bytes(4096);
    device.read(memory.get(), 0, 0, bytes);
  }
  if (device.is_async()) {
    const TimelineHandle line = device.make_timeline(1);
    c.table().timeline_wait(line.get(), 2, 1000, nullptr);
    device.signal(line.get(), 2);
  }
  if (!device.computes() || !device.submits()) return;
  const Loaded loaded = any_kernel(device);
  expect_result(device, loaded.kernel, loaded.executable.get(), "compiled");
  if (c.table().executable_text)
    for (const uint32_t kind : {TN_TEXT_SOURCE, TN_TEXT_ASSEMBLY})
      c.table().executable_text(
          loaded.executable.get(), kind, [](void*, const void*, size_t) {}, nullptr, nullptr);
  if (!can_save(device)) return;
  auto bytes = save(device, loaded.executable.get());
  const LoadAnswer answer = load(device, bytes);
  if (answer.executable)
    expect_result(device, loaded.kernel, answer.executable.get(), "saved and loaded");
  bytes[bytes.size() / 2] ^= 1;
  load(device, bytes);
}

/// Numbers are those of ops.def whatever the ways were of who opened the device, or are of who
/// submits.
void expect_nearest(const OpenDevice& device, const char* name, void (*take)()) try {
  if (!device.computes() || !device.submits()) return;
  try_sums(device, TN_DTYPE_F32, 1);
  if (const std::string change = take_process_change(); !change.empty())
    throw Finding{"error", change};
  try_sums(device, TN_DTYPE_F32, 1, [&](const auto& run) {
    const OwnWay way(take);
    run();
  });
} catch (const Finding& finding) {
  throw Finding{finding.kind, fmt::format("of a host that {}: {}", name, finding.text)};
}

/// In a process of its own, as threads that a driver begins keep what they find.
void ways_of_the_host(const CheckContext& c) {
  run_isolated(c.subject.target, c.alive, {.has_ways = true});
}

}  // namespace

void take_ways(const CheckContext& c) {
  struct Way {
    const char* name;
    void (*take)();
    bool is_of_floats = false;
  };
  constexpr Way kWays[] = {
    {"rounds upward", [] { std::fesetround(FE_UPWARD); }, true},
    {"rounds toward zero", [] { std::fesetround(FE_TOWARDZERO); }, true},
#if defined(__x86_64__)
    {"flushes subnormals", [] { set_float_control(float_control() | 0x8040); }, true},
#endif
    {"has a locale", [] { std::setlocale(LC_ALL, "C.UTF-8"); }},
    {"has an umask", [] { umask(037); }},
    {"works in another directory", [] { [[maybe_unused]] const int result = chdir("/"); }},
    {"blocks signals",
     [] {
       sigset_t blocked;
       sigemptyset(&blocked);
       for (const int each : {SIGUSR1, SIGUSR2, SIGTERM}) sigaddset(&blocked, each);
       pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
     }}
  };
  for (const auto& [name, take, is_of_floats] : kWays) {
    c.alive();
    std::optional<OpenDevice> device;
    {
      const OwnWay way(take);
      device.emplace(c.open());
      use_all(c);
      if (const std::string change = take_process_change(); !change.empty())
        find("error", "of a host that {}: {}", name, change);
    }
    if (is_of_floats) expect_nearest(*device, name, take);
  }
}

std::span<const CheckRow> process_checks() {
  static constexpr CheckRow kRows[] = {{"ways_of_the_host", ways_of_the_host, 39}};
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
