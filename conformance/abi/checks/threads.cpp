// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of threads that each have objects of their own on one device: slabs and timelines that
// come and go, and several that wait for one timeline.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "conformance/abi/at_once.hpp"
#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/saved.hpp"
#include "conformance/cases/random.hpp"
#include "core/support/printable.hpp"

namespace tenon::conformance::abi::checks {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kHostThreads = 4;

/// Each makes some slabs, writes to them all, and finds in each what it wrote.
void threads_allocate(const CheckContext& c) {
  constexpr int kRounds = 10, kSlabs = 5;
  constexpr uint64_t kSizes[] = {1, 64, 1000, 4096, 70'000};
  const OpenDevice device = c.open();
  // Where the host does not see it, bytes come by submissions, which one thread alone may make.
  need(device.is_visible(0) || device.is_async(), "the host does not see the device's memory");
  at_once(kHostThreads, [&](int thread) {
    Random random(mix(c.seed, static_cast<uint64_t>(thread)));
    for (int round = 0; round < kRounds; ++round) {
      struct Owned {
        MemoryHandle memory;
        std::vector<uint8_t> bytes;
      };
      std::vector<Owned> slabs;
      for (int k = 0; k < kSlabs; ++k) {
        Owned slab;
        slab.bytes.assign(random.pick(kSizes), static_cast<uint8_t>(random.bits()));
        slab.memory = device.allocate(0, slab.bytes.size());
        if (!slab.memory) return;
        device.write(slab.memory.get(), 0, 0, slab.bytes);
        slabs.push_back(std::move(slab));
      }
      for (const auto& [memory, bytes] : slabs) {
        std::vector<uint8_t> got(bytes.size());
        device.read(memory.get(), 0, 0, got);
        if (got != bytes)
          find("mismatch",
               "a slab of {} bytes, while {} threads make, write and free others: expected its own "
               "bytes, got others",
               bytes.size(), kHostThreads);
      }
    }
  });
}

/// Threads that wait for values which one more signals meanwhile: whether one of them still waited
/// half a second later.
bool waits_long(const OpenDevice& device, bool is_apart) {
  constexpr uint64_t kFirst = 8, kTimeout = 1'000'000'000;
  constexpr auto kPause = std::chrono::milliseconds(2), kLate = std::chrono::milliseconds(500);
  const TimelineHandle timeline = device.make_timeline(kFirst - 1);
  std::atomic<Clock::duration> signalled = Clock::duration(0);
  std::atomic<bool> late = false;
  at_once(kHostThreads + 1, [&](int thread) {
    const uint64_t last = is_apart ? kFirst + kHostThreads - 1 : kFirst;
    if (thread == kHostThreads) {
      struct Done {
        std::atomic<Clock::duration>& at;
        ~Done() { at = Clock::now().time_since_epoch(); }
      } const done{signalled};
      std::this_thread::sleep_for(kPause);
      for (uint64_t next = kFirst; next <= last; ++next) device.signal(timeline.get(), next);
      return;
    }
    const uint64_t value = is_apart ? kFirst + static_cast<uint64_t>(thread) : kFirst;
    int32_t status = TN_ERROR_TIMEOUT;
    while (status == TN_ERROR_TIMEOUT && !late) {
      status = device.table().timeline_wait(timeline.get(), value, kTimeout, nullptr);
      const Clock::duration at = signalled;
      if (at.count() && Clock::now().time_since_epoch() - at > kLate) late = true;
    }
    if (status == TN_ERROR_DEVICE_LOST) throw Lost{"while several threads waited"};
    if (status != TN_OK && !late)
      find("error", "timeline_wait: expected TN_OK, got {}", status_text(status));
  });
  return late;
}

/// Several for one value, and each for a value of its own.
void threads_wait(const CheckContext& c) {
  constexpr int kTries = 3;  // a busy machine may come late itself
  const OpenDevice device = with_timelines(c);
  for (const bool is_apart : {false, true}) {
    bool late = true;
    for (int i = 0; i < kTries && late; ++i) {
      c.alive();
      late = waits_long(device, is_apart);
    }
    if (late)
      find("order",
           "timeline_wait in {} threads at once, for {}: expected each to end as the host signals, "
           "got one that still waited half a second later, in each of {} tries",
           kHostThreads, is_apart ? "a value each" : "the same value", kTries);
  }
}

/// "line 3, byte 71: expected "mov eax, 11", got "mov eax, 12"": where two texts begin to differ.
std::string first_difference(std::string_view wanted, std::string_view got) {
  constexpr size_t kMostShown = 100;
  const auto [a, b] = std::ranges::mismatch(wanted, got);
  const auto at = static_cast<size_t>(a - wanted.begin());
  const auto line_of = [&](std::string_view text) -> std::string {
    if (at >= text.size()) return fmt::format("its end, at {} bytes", text.size());
    const size_t before = text.rfind('\n', at ? at - 1 : 0);
    size_t begin = before == text.npos || at == 0 ? 0 : before + 1;
    // Of a long line what is around the place.
    if (at - begin > kMostShown / 2) begin = at - kMostShown / 2;
    const std::string_view rest = text.substr(begin, text.find('\n', at) - begin);
    return fmt::format("\"{}\"", printable(rest.substr(0, kMostShown)));
  };
  return fmt::format("line {}, byte {}: expected {}, got {}",
                     1 + std::count(wanted.begin(), a, '\n'), at, line_of(wanted), line_of(got));
}

/// Each saves executables of its own, and reads their texts, while others do.
void threads_save(const CheckContext& c) {
  constexpr int kRounds = 12;
  constexpr auto kPause = std::chrono::microseconds(20);  // for others to come between
  const OpenDevice device = computing(c);
  const bool saves = can_save(device);
  need(saves || c.table().executable_text, "the device saves nothing and has no texts");
  std::vector<Loaded> kernels;
  std::vector<std::string> texts;
  const tn_sink sink = [](void* user, const void* bytes, size_t size) {
    std::this_thread::yield();
    static_cast<std::string*>(user)->append(static_cast<const char*>(bytes), size);
  };
  const auto text_of = [&](const Loaded& loaded) {
    std::string text;
    if (c.table().executable_text)
      c.table().executable_text(loaded.executable.get(), TN_TEXT_SOURCE, sink, &text, nullptr);
    return text;
  };
  for (int t = 0; t < kHostThreads; ++t) {
    auto loaded = load_kernel(adding(11 + t), device);
    need(loaded.has_value(), "the device takes no such program");
    texts.push_back(text_of(*loaded));
    kernels.push_back(std::move(*loaded));
  }
  std::vector<std::vector<uint8_t>> saved(kHostThreads);
  at_once(kHostThreads, [&](int thread) {
    const auto t = static_cast<size_t>(thread);
    for (int round = 0; round < kRounds; ++round) {
      if (saves) saved[t] = save(device, kernels[t].executable.get(), kPause);
      if (const std::string text = text_of(kernels[t]); text != texts[t])
        find("mismatch",
             "executable_text in {} threads at once, of the executable of thread {}: expected its "
             "text of {} bytes each time, got {} bytes, which differ from {}",
             kHostThreads, t, texts[t].size(), text.size(), first_difference(texts[t], text));
    }
  });
  for (size_t t = 0; saves && t < saved.size(); ++t) {
    c.alive();
    const LoadAnswer answer = load(device, saved[t]);
    if (answer.status != TN_OK)
      find("error",
           "executable_load of what was saved in one of {} threads at once: expected TN_OK, got {}",
           kHostThreads, status_text(answer.status));
    expect_result(device, kernels[t].kernel, answer.executable.get(),
                  "saved in one of several threads");
  }
}

/// Timelines that come and go: each has its own value.
void threads_with_timelines(const CheckContext& c) {
  constexpr uint64_t kRounds = 60;
  const OpenDevice device = with_timelines(c);
  at_once(kHostThreads, [&](int thread) {
    for (uint64_t round = 0; round < kRounds; ++round) {
      const uint64_t value = static_cast<uint64_t>(thread) << 32 | round;
      const TimelineHandle line = device.make_timeline(value);
      const uint64_t begun = device.query(line.get());
      device.signal(line.get(), value + 5);
      device.wait(line.get(), value + 5);
      const uint64_t ended = device.query(line.get());
      if (begun != value || ended != value + 5)
        find("order",
             "timeline_query, while {} threads have timelines of their own: expected {} and then "
             "{}, got {} and {}",
             kHostThreads, value, value + 5, begun, ended);
    }
  });
}

}  // namespace

std::span<const CheckRow> thread_checks() {
  static constexpr CheckRow kRows[] = {
      {"threads_allocate", threads_allocate, 19},
      {"threads_wait", threads_wait, 19},
      {"threads_save", threads_save, 19},
      {"threads_with_timelines", threads_with_timelines, 19},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
