// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of what a submission waits for and signals: exactly those points, all of them.
#include "conformance/abi/checks/check.hpp"

namespace tenon::conformance::abi::checks {
namespace {

void expect_value(const OpenDevice& device, tn_timeline* timeline, uint64_t wanted,
                  const char* when) {
  const uint64_t got = device.query(timeline);
  if (got != wanted) find("order", "timeline_query: expected {} {}, got {}", wanted, when, got);
}

void lower_signals(const CheckContext& c) {
  const OpenDevice device = submitting_with_timelines(c);
  const TimelineHandle rises = device.make_timeline(0), done = device.make_timeline(0);
  device.signal(rises.get(), 10);
  const tn_point signals[] = {{rises.get(), 5}, {done.get(), 1}};
  device.submit(submission_of({}, {}, signals));
  device.wait(done.get(), 1);
  expect_value(device, rises.get(), 10, "after the host's 10 and then a submission's 5");
  device.wait(rises.get(), 10);
}

/// Several points of one timeline, in any order: the highest counts.
void signals_of_one_timeline(const CheckContext& c) {
  const OpenDevice device = submitting_with_timelines(c);
  for (const auto& [first, second] : {std::pair<uint64_t, uint64_t>{3, 7}, {7, 3}}) {
    const TimelineHandle timeline = device.make_timeline(0), done = device.make_timeline(0);
    const tn_point signals[] = {{timeline.get(), first}, {timeline.get(), second}, {done.get(), 1}};
    device.submit(submission_of({}, {}, signals));
    device.wait(done.get(), 1);
    device.wait(timeline.get(), 7);
    expect_value(device, timeline.get(), 7, "after a submission that signals 3 and 7");
  }
}

/// A rise that stays below the value is none that it waits for.
void early_rises(const CheckContext& c) {
  const OpenDevice device = submitting_with_timelines(c);
  const TimelineHandle gate = device.make_timeline(0), done = device.make_timeline(0);
  const tn_point wait{gate.get(), 5}, signal{done.get(), 1};
  Unfinished work(device, gate.get(), 6);
  device.submit(submission_of({}, {&wait, 1}, {&signal, 1}));
  work.ends_with(signal);
  for (const uint64_t value : {1, 3, 4}) {
    device.signal(gate.get(), value);
    settle();
    expect_value(device, done.get(), 0, "of a submission that waits for 5 of less");
  }
  device.signal(gate.get(), 6);
  device.wait(done.get(), 1);
}

/// Each of many waits holds it up, whichever is the last.
void many_waits(const CheckContext& c) {
  const OpenDevice device = submitting_with_timelines(c);
  constexpr size_t kCount = 40;
  for (const size_t last : {size_t{0}, kCount / 2, kCount - 1}) {
    c.alive();
    std::vector<TimelineHandle> gates;
    std::vector<tn_point> waits;
    for (size_t i = 0; i < kCount; ++i) {
      gates.push_back(device.make_timeline(0));
      waits.push_back({gates.back().get(), i + 1});
    }
    const TimelineHandle done = device.make_timeline(0);
    const tn_point signal{done.get(), 1};
    Unfinished work(device, gates[last].get(), last + 1);
    for (const tn_point& wait : waits) work.opens_with(wait);
    device.submit(submission_of({}, waits, {&signal, 1}));
    work.ends_with(signal);
    for (size_t i = 0; i < kCount; ++i)
      if (i != last) device.signal(gates[i].get(), i + 1);
    settle();
    const uint64_t early = device.query(done.get());
    device.signal(gates[last].get(), last + 1);
    device.wait(done.get(), 1);
    if (early != 0)
      find("order", "timeline_query: expected 0 while one of {} waits, number {}, is not reached",
           kCount, last);
  }
}

/// Two values of one timeline: the greater counts, whichever comes first.
void waits_of_one_timeline(const CheckContext& c) {
  const OpenDevice device = submitting_with_timelines(c);
  for (const auto& [first, second] : {std::pair(3u, 9u), std::pair(9u, 3u)}) {
    c.alive();
    const TimelineHandle gate = device.make_timeline(1), done = device.make_timeline(0);
    const tn_point waits[] = {{gate.get(), first}, {gate.get(), second}}, signal{done.get(), 1};
    Unfinished work(device, gate.get(), 9);
    device.submit(submission_of({}, waits, {&signal, 1}));
    work.ends_with(signal);
    device.signal(gate.get(), 3);
    settle();
    const uint64_t early = device.query(done.get());
    device.signal(gate.get(), 9);
    device.wait(done.get(), 1);
    if (early != 0)
      find("order",
           "timeline_query of a submission that waits for {} and {} of one timeline: expected 0 "
           "while that is at 3, got {}",
           first, second, early);
  }
}

/// What is refused was never submitted (rule 49): nothing has run, no timeline has moved.
void refused_submissions(const CheckContext& c) {
  constexpr uint64_t kBytes = 256;
  const OpenDevice device = submitting(c);
  const MemoryHandle memory = any_memory(device, kBytes);
  device.write(memory.get(), 0, 0, std::vector<uint8_t>(kBytes, 0x11));
  const auto expect_byte = [&](uint8_t byte, const char* when) {
    std::vector<uint8_t> got(kBytes);
    device.read(memory.get(), 0, 0, got);
    for (const uint8_t each : got)
      if (each != byte)
        find("mismatch", "a slab: expected {:#04x} {}, got {:#04x}", byte, when, each);
  };
  for (const uint32_t queue : {1u, 2u, 77u, 65'536u, 1'000'003u, UINT32_MAX}) {
    c.alive();
    const tn_command fill = fill_command(memory.get(), 0, kBytes, 0x22, 1);
    tn_submission beyond = abi::submission_of({&fill, 1});
    beyond.queue = queue;
    TimelineHandle timeline;
    tn_point signal{};
    if (device.is_async()) {
      timeline = device.make_timeline(4);
      signal = {timeline.get(), 9};
      beyond.signals = &signal;
      beyond.signal_count = 1;
    }
    const int32_t status = c.table().submit(device.handle(), &beyond, nullptr);
    settle();
    if (status == TN_OK) {  // it has such a queue
      if (timeline) device.wait(timeline.get(), 9);
      expect_byte(0x22, "after a fill");
      device.write(memory.get(), 0, 0, std::vector<uint8_t>(kBytes, 0x11));
      continue;
    }
    expect_byte(0x11, "as before a submission to a queue that was refused");
    if (!timeline) continue;
    expect_value(device, timeline.get(), 4, "as before a submission to a queue that was refused");
    const TimelineHandle other = device.make_timeline(0);
    const tn_point taken{other.get(), 1};
    device.submit(submission_of({}, {}, {&taken, 1}));
    device.wait(other.get(), 1);
    expect_value(device, timeline.get(), 4, "after another submission than the one refused");
    expect_byte(0x11, "after another submission than the one refused");
    device.submit(submission_of({}, {}, {&signal, 1}));
    device.wait(timeline.get(), 9);
  }
}

}  // namespace

std::span<const CheckRow> point_checks() {
  static constexpr CheckRow kRows[] = {
      {"lower_signals", lower_signals, 51},
      {"signals_of_one_timeline", signals_of_one_timeline, 51},
      {"early_rises", early_rises, 32},
      {"many_waits", many_waits, 32},
      {"waits_of_one_timeline", waits_of_one_timeline, 32},
      {"refused_submissions", refused_submissions, 49},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
