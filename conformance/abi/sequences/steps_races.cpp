// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps of several threads, each on objects of its own but for the device.
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include "conformance/abi/at_once.hpp"
#include "conformance/abi/sequences/runner.hpp"

namespace tenon::conformance::abi::sequences {
namespace {

/// A plugin that said too early that it was done may still be at work.
constexpr auto kGrace = std::chrono::milliseconds(20);
constexpr uint64_t kElements = 1024, kBytes = kElements * sizeof(uint32_t);

int threads_of(int64_t request) { return static_cast<int>(std::clamp<int64_t>(request, 2, 8)); }

/// One thread's slab, and what it must hold.
struct Share {
  MemoryHandle memory;
  TimelineHandle timeline;
  std::vector<uint8_t> bytes, known;
};

std::optional<Share> make_share(const OpenDevice& device) {
  Share share;
  share.memory = device.allocate(0, kBytes);
  if (!share.memory) return {};
  if (device.is_async()) share.timeline = device.make_timeline(0);
  share.bytes.assign(kBytes, 0);
  share.known.assign(kBytes, 1);
  return share;
}

}  // namespace

bool SequenceRunner::race_compile(const Numbers& numbers) {
  Seat* seat = seat_of(numbers, 0);
  if (!seat || !seat->opened.computes()) return false;
  // A queue in order would keep this waiting for a closed gate.
  seat->lane.raise();
  const OpenDevice& device = seat->opened;
  KernelSpec spec;
  spec.kind = "accumulate";
  spec.dtype = static_cast<tn_dtype>(numbers.slot(1, 0x80));
  const int count = threads_of(numbers.at(3));
  std::vector<std::optional<Loaded>> made(static_cast<size_t>(count));
  at_once(count, [&](int t) {
    KernelSpec mine = spec;
    mine.constant = numbers.at(2) + t % 2;
    made[static_cast<size_t>(t)] = load_kernel(mine, device);
  });
  auto share = make_share(device);
  if (!share || !made[0]) return false;
  device.write(share->memory.get(), 0, 0, share->bytes);
  for (const auto& loaded : made) {
    if (!loaded)
      find("support", "compile: the same kind of program was taken once and refused once");
    const Kernel& kernel = loaded->kernel;
    const auto extent = kernel.extent(kBytes / kernel.element_bytes());
    LaunchArguments arguments;
    const tn_command command = launch_command(kernel, loaded->executable.get(), extent,
                                              {share->memory.get(), 0}, {}, 0, arguments);
    device.run({&command, 1});
    kernel.apply(extent, {}, {share->bytes, share->known}, 0);
  }
  Slab expected;
  expected.resize(kBytes);
  expected.set(0, share->bytes.data(), kBytes, step_);
  std::vector<uint8_t> got(kBytes);
  device.read(share->memory.get(), 0, 0, got);
  expected.compare(0, 0, got, "of programs that were compiled at once");
  return true;
}

bool SequenceRunner::race_submit(const Numbers& numbers) {
  Seat* seat = seat_of(numbers, 0);
  if (!seat || !seat->opened.submits()) return false;
  const OpenDevice& device = seat->opened;
  if (!device.is_visible(0)) return false;
  seat->lane.raise();
  const int count = threads_of(numbers.at(1));
  const uint64_t rounds = std::min<uint64_t>(numbers.size(2), 16);
  KernelSpec spec;
  spec.kind = "accumulate";
  const auto loaded = load_kernel(spec, device);
  std::vector<Share> shares;
  for (int t = 0; t < count; ++t) {
    auto share = make_share(device);
    if (!share) return false;
    shares.push_back(std::move(*share));
  }
  std::mutex one_at_a_time;  // without TN_DEVICE_ASYNC
  at_once(count, [&](int t) {
    Share& share = shares[static_cast<size_t>(t)];
    LaunchArguments arguments;
    std::vector<tn_command> commands = {fill_command(share.memory.get(), 0, kBytes, 0, 4)};
    Kernel::Extent extent;
    if (loaded) {
      extent = loaded->kernel.extent(kElements);
      commands.push_back(launch_command(loaded->kernel, loaded->executable.get(), extent,
                                        {share.memory.get(), 0}, {}, 0, arguments));
    }
    const auto expect_round = [&](uint64_t round) {
      if (device.is_async()) device.wait(share.timeline.get(), round);
      Slab expected;
      expected.resize(kBytes);
      expected.fill(0, kBytes, commands[0].pattern, 4, step_);
      if (loaded) loaded->kernel.apply(extent, {}, expected.range(0, kBytes), 0);
      const auto* got = static_cast<const uint8_t*>(device.map(share.memory.get(), 0, kBytes));
      if (std::memcmp(expected.bytes.data(), got, kBytes) != 0) std::this_thread::sleep_for(kGrace);
      expected.compare(static_cast<size_t>(t), 0, {got, kBytes}, "of one of several threads");
      device.unmap(share.memory.get());
    };
    for (uint64_t round = 1; round <= rounds + 1; ++round) {
      // Of its own, so that what another round left is wrong.
      commands[0].pattern = round << 8 | static_cast<uint64_t>(t);
      const tn_point wait{share.timeline.get(), round - 1}, signal{share.timeline.get(), round};
      if (device.is_async()) {
        device.submit(submission_of(commands, {&wait, 1}, {&signal, 1}));
      } else {
        const std::lock_guard lock(one_at_a_time);
        device.submit(submission_of(commands));
      }
      // Now and then; between, submissions come as fast as they can.
      if (round % 4 == 0 || round == rounds + 1) expect_round(round);
    }
  });
  return true;
}

bool SequenceRunner::race_wait(const Numbers& numbers) {
  Seat* seat = seat_of(numbers, 0);
  if (!seat || !seat->opened.is_async()) return false;
  const OpenDevice& device = seat->opened;
  const TimelineHandle timeline = device.make_timeline(5);
  at_once(2, [&](int t) {
    if (t == 0) {
      device.wait(timeline.get(), 6);
      const uint64_t value = device.query(timeline.get());
      if (value < 6)
        find("order", "timeline_query: expected 6 after waiting for it, got {}", value);
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      device.signal(timeline.get(), 6);
    }
  });
  return true;
}

}  // namespace tenon::conformance::abi::sequences
