// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of timelines: values and timeouts of any size, and several at once.
#include <chrono>
#include <thread>

#include "conformance/abi/at_once.hpp"
#include "conformance/abi/checks/check.hpp"

namespace tenon::conformance::abi::checks {
namespace {

constexpr uint64_t kSoon = 5'000'000'000;  ///< ns, in which what has been raised is reached
constexpr uint64_t kTwo32 = uint64_t{1} << 32, kTwo53 = uint64_t{1} << 53,
                   kTwo63 = uint64_t{1} << 63;

std::string name_of(int32_t status) {
  return status == TN_OK ? "TN_OK" : std::string(status_text(status));
}

void expect_at(const OpenDevice& device, tn_timeline* timeline, uint64_t value) {
  const int32_t reached = device.table().timeline_wait(timeline, value, kSoon, nullptr);
  if (reached != TN_OK)
    find("order", "timeline_wait for {}, which was signalled: expected TN_OK, got {}", value,
         name_of(reached));
  if (const uint64_t got = device.query(timeline); got != value)
    find("order", "timeline_query: expected {}, got {}", value, got);
  const int32_t beyond = device.table().timeline_wait(timeline, value + 1, 0, nullptr);
  if (beyond != TN_ERROR_TIMEOUT)
    find("order", "timeline_wait for {} of a timeline at {}: expected TN_ERROR_TIMEOUT, got {}",
         value + 1, value, name_of(beyond));
}

void submit_points(const OpenDevice& device, std::span<const tn_point> waits,
                   std::span<const tn_point> signals) {
  device.submit(submission_of({}, waits, signals));
}

/// Small steps around numbers that a narrower integer or a float does not hold.
void timeline_steps(const CheckContext& c) {
  const OpenDevice device = with_timelines(c);
  for (const uint64_t start :
       {uint64_t{0xFFFE}, kTwo32 / 2 - 2, kTwo32 - 2, kTwo53 - 2, kTwo63 - 2, UINT64_MAX - 9}) {
    c.alive();
    const TimelineHandle timeline = device.make_timeline(start);
    expect_at(device, timeline.get(), start);
    device.signal(timeline.get(), start + 1);
    expect_at(device, timeline.get(), start + 1);
    for (uint64_t value = start + 1; value < start + 7; value += 2) {
      const tn_point wait{timeline.get(), value}, signal{timeline.get(), value + 2};
      submit_points(device, {&wait, 1}, {&signal, 1});
      expect_at(device, timeline.get(), value + 2);
    }
  }
}

void timeline_jumps(const CheckContext& c) {
  const OpenDevice device = with_timelines(c);
  constexpr uint64_t kValues[] = {0xFFFF,     0x10000,    kTwo32 - 1, kTwo32,     kTwo32 + 1,
                                  kTwo53 + 1, kTwo63 - 1, kTwo63,     kTwo63 + 1, UINT64_MAX - 1};
  for (const bool by_host : {true, false}) {
    c.alive();
    const TimelineHandle timeline = device.make_timeline(3);
    for (const uint64_t value : kValues) {
      const tn_point signal{timeline.get(), value};
      if (by_host)
        device.signal(timeline.get(), value);
      else
        submit_points(device, {}, {&signal, 1});
      expect_at(device, timeline.get(), value);
    }
  }
}

/// One rise, of any amount.
void timeline_leaps(const CheckContext& c) {
  const OpenDevice device = with_timelines(c);
  constexpr std::pair<uint64_t, uint64_t> kLeaps[] = {{0, UINT64_MAX - 1},
                                                      {0, kTwo63},
                                                      {1, kTwo63 + 1},
                                                      {5, kTwo63 + 6},
                                                      {3, UINT64_MAX - 1},
                                                      {kTwo32, kTwo63},
                                                      {kTwo63 - 1, UINT64_MAX - 1}};
  for (const auto& [from, to] : kLeaps)
    for (const bool by_host : {true, false}) {
      c.alive();
      const TimelineHandle timeline = device.make_timeline(from);
      const tn_point signal{timeline.get(), to};
      if (by_host)
        device.signal(timeline.get(), to);
      else
        submit_points(device, {}, {&signal, 1});
      expect_at(device, timeline.get(), to);
    }
}

/// Raised a moment later, in another thread: until then they wait, whatever their length.
void long_timeouts(const CheckContext& c) {
  const OpenDevice device = with_timelines(c);
  constexpr auto kMoment = std::chrono::milliseconds(15);
  for (const uint64_t timeout : {kTwo32 + 1, kTwo32 * 2, uint64_t{1} << 40, kTwo63 - 1, kTwo63,
                                 kTwo63 + 77, UINT64_MAX - 1, UINT64_MAX}) {
    c.alive();
    const TimelineHandle timeline = device.make_timeline(0);
    at_once(2, [&](int thread) {
      if (thread == 1) {
        std::this_thread::sleep_for(kMoment);
        return device.signal(timeline.get(), 1);
      }
      const int32_t status = c.table().timeline_wait(timeline.get(), 1, timeout, nullptr);
      expect(status == TN_OK,
             "timeline_wait of {} ns for what was signalled after 15 ms: expected TN_OK, got {}",
             timeout, name_of(status));
    });
  }
}

/// A submission waits for all of its waits, and each of its signals has a value of its own.
void several_timelines(const CheckContext& c) {
  const OpenDevice device = with_timelines(c);
  for (const bool swapped : {false, true}) {
    c.alive();
    const TimelineHandle a = device.make_timeline(0), b = device.make_timeline(0);
    const TimelineHandle low = device.make_timeline(0), high = device.make_timeline(0);
    const tn_point waits[] = {{(swapped ? b : a).get(), 1}, {(swapped ? a : b).get(), 1}};
    const tn_point signals[] = {{(swapped ? high : low).get(), swapped ? 9u : 4u},
                                {(swapped ? low : high).get(), swapped ? 4u : 9u}};
    Unfinished work(device, a.get(), 1);
    const Unfinished other(device, b.get(), 1);
    submit_points(device, waits, signals);
    for (const tn_point& signal : signals) work.ends_with(signal);
    device.signal(a.get(), 1);
    settle();
    for (tn_timeline* signal : {low.get(), high.get()})
      if (const uint64_t got = device.query(signal); got != 0)
        find("order",
             "timeline_query: expected 0 as one of two waits of the submission is not reached, "
             "got {}",
             got);
    device.signal(b.get(), 1);
    expect_at(device, low.get(), 4);
    expect_at(device, high.get(), 9);
  }
}

}  // namespace

std::span<const CheckRow> wide_value_checks() {
  static constexpr CheckRow kRows[] = {
      {"timeline_steps", timeline_steps, 59},       {"timeline_jumps", timeline_jumps, 59},
      {"timeline_leaps", timeline_leaps, 59},       {"long_timeouts", long_timeouts, 59},
      {"several_timelines", several_timelines, 32},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
