// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Submissions are only ordered by what they wait for, so each waits for the work that it conflicts
// with, and contents are those of running one after the other.
#include "conformance/abi/sequences/lane.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::conformance::abi::sequences {
namespace {

constexpr uint32_t kMostQueues = 4;

/// A copy in which rows are further apart, as a newer host's would be.
std::vector<std::byte> spread(std::span<const tn_command> rows, uint32_t stride) {
  std::vector<std::byte> out(rows.size() * stride, std::byte{0xEE});
  for (size_t i = 0; i < rows.size(); ++i)
    std::memcpy(out.data() + i * stride, &rows[i], sizeof(tn_command));
  return out;
}

}  // namespace

Lane::Lane(const OpenDevice& device) : device_(device), queues_(kMostQueues) {
  queues_[0] = true;
  if (!device.is_async()) return;
  lines_.resize(kTimelines);
  for (size_t i = 0; i < kTimelines; ++i) renew(i, 0);
  gate_ = device.make_timeline(0);
}

void Lane::renew(size_t at, uint64_t value) {
  if (!device_.is_async()) return;
  settle_all();
  Line line;
  line.handle = device_.make_timeline(value);
  line.value = line.seen = value;
  line.values = {value};
  lines_[at] = std::move(line);
}

Lane::Work* Lane::find_work(uint64_t id) {
  const auto at = std::ranges::find(works_, id, &Work::id);
  return at == works_.end() ? nullptr : &*at;
}

bool Lane::is_held(const Work& work) const {
  if (work.gate > gate_raised_) return true;
  return std::ranges::any_of(works_, [&](const Work& other) {
    return other.gate > gate_raised_ && work.before.contains(other.id);
  });
}

/// Makes `work` start after the work `id`, unless it does already.
void Lane::follow(Work& work, uint64_t id, std::vector<tn_point>& waits) {
  const Work* first = find_work(id);
  if (!first || work.before.contains(id)) return;
  waits.push_back({lines_[first->timeline].handle.get(), first->value});
  work.before.insert(first->before.begin(), first->before.end());
  work.before.insert(id);
}

/// The timeline must rise, so whoever raises it next follows the one before.
void Lane::add_signal(Work& work, size_t timeline, std::vector<tn_point>& waits,
                      std::vector<tn_point>& signals) {
  Line& line = lines_[timeline];
  if (!line.raised_by.empty()) {
    follow(work, line.raised_by.back().second, waits);
    // Of work that signals two timelines the other one may have been raised first: a later value
    // must not hide that this one is still to come.
    waits.push_back({line.handle.get(), line.value});
  }
  ++line.value;
  line.values.insert(line.value);
  line.raised_by.emplace_back(line.value, work.id);
  signals.push_back({line.handle.get(), line.value});
}

/// Only queue 0 is always there, and nothing says how many there are: an empty submission tells.
bool Lane::has_queue(uint32_t queue) {
  if (!queues_[queue]) {
    tn_submission none = submission_of({});
    none.queue = queue;
    queues_[queue] = device_.table().submit(device_.handle(), &none, nullptr) == TN_OK;
  }
  return *queues_[queue];
}

void Lane::submit(const Batch& batch, const SubmitRequest& request) {
  if (!device_.submits()) return;
  Work work;
  work.id = next_id_++;
  work.accesses = batch.accesses;
  work.executables = batch.executables;
  std::vector<tn_point> waits, signals;
  if (!device_.is_async()) return hand_over(batch, request, {}, {});
  // The newest first: what it waits for needs no wait of its own.
  for (auto other = works_.rbegin(); other != works_.rend(); ++other) {
    const bool conflicts = std::ranges::any_of(other->accesses, [&](const Access& a) {
      return std::ranges::any_of(work.accesses, [&](const Access& b) { return conflict(a, b); });
    });
    if (conflicts) follow(work, other->id, waits);
  }
  if (request.style == 2) {
    const Line& line = lines_[(request.timeline + 1) % kTimelines];
    waits.push_back({line.handle.get(), line.seen});  // reached long ago
  }
  if (request.gated) {
    work.gate = ++gate_next_;
    waits.push_back({gate_.get(), work.gate});
  }
  work.timeline = request.timeline;
  add_signal(work, request.timeline, waits, signals);
  work.value = signals.back().value;
  if (request.style == 1) add_signal(work, (request.timeline + 1) % kTimelines, waits, signals);
  works_.push_back(std::move(work));
  hand_over(batch, request, std::move(waits), std::move(signals));
  peek();
}

/// Everything that is pointed to is the call's own, and is overwritten when it returns.
void Lane::hand_over(const Batch& batch, const SubmitRequest& request, std::vector<tn_point> waits,
                     std::vector<tn_point> signals) {
  std::vector<tn_command> commands = batch.commands;
  std::vector<LaunchArguments> arguments(batch.arguments.begin(), batch.arguments.end());
  size_t launch = 0;
  for (tn_command& command : commands)
    if (command.kind == TN_COMMAND_LAUNCH) command.arguments = arguments[launch++].rows;
  const uint32_t stride = static_cast<uint32_t>(sizeof(tn_command)) + (request.style == 2 ? 24 : 0);
  std::vector<std::byte> rows = spread(commands, stride);
  tn_submission submission = submission_of(commands, waits, signals);
  submission.queue = has_queue(request.queue) ? request.queue : 0;
  submission.command_stride = stride;
  if (!commands.empty()) submission.commands = reinterpret_cast<const tn_command*>(rows.data());
  device_.submit(submission);
  std::ranges::fill(rows, std::byte{0xDD});
  const auto spoil = [](auto& array) {
    if (!array.empty()) std::memset(array.data(), 0xDD, array.size() * sizeof array[0]);
  };
  spoil(arguments);
  spoil(waits);
  spoil(signals);
}

void Lane::forget_ended(uint64_t id) {
  const Work* last = find_work(id);
  if (!last) return;
  std::set<uint64_t> ended = last->before;
  ended.insert(id);
  std::erase_if(works_, [&](const Work& work) { return ended.contains(work.id); });
}

void Lane::wait_for(const Work& work) {
  // A queue may do its work in order, so nothing gets done while a gate is closed.
  raise();
  Line& line = lines_[work.timeline];
  device_.wait(line.handle.get(), work.value);
  line.seen = std::max(line.seen, work.value);
  const uint64_t value = device_.query(line.handle.get());
  if (value < work.value)
    find("order", "timeline_query: expected at least {} after waiting for it, got {}", work.value,
         value);
  const auto& raised = line.raised_by;
  // All that raised this timeline before has ended too, as each followed the one before.
  for (const auto& [raises, id] : std::vector(raised.begin(), raised.end()))
    if (raises <= work.value) forget_ended(id);
}

void Lane::settle(const Access& access) {
  for (bool again = true; again;) {
    again = false;
    for (auto work = works_.rbegin(); work != works_.rend(); ++work) {
      if (std::ranges::none_of(work->accesses,
                               [&](const Access& a) { return conflict(a, access); }))
        continue;
      wait_for(Work(*work));
      again = true;
      break;
    }
  }
}

void Lane::settle_executable(size_t slot) {
  for (;;) {
    const auto user =
        std::ranges::find_if(works_, [&](const Work& w) { return w.executables.contains(slot); });
    if (user == works_.end()) return;
    wait_for(Work(*user));
  }
}

void Lane::settle_all() {
  while (!works_.empty()) wait_for(Work(works_.back()));
  // A second signal of some work may still be on its way.
  for (Line& line : lines_) {
    if (!line.handle) continue;
    device_.wait(line.handle.get(), line.value);
    line.seen = line.value;
  }
}

bool Lane::give_up() noexcept {
  constexpr uint64_t kSecond = 1'000'000'000;
  const tn_plugin& table = device_.table();
  if (has_gates()) table.timeline_signal(gate_.get(), gate_next_, nullptr);
  return std::ranges::all_of(lines_, [&](const Line& line) {
    return !line.handle ||
           table.timeline_wait(line.handle.get(), line.value, kSecond, nullptr) == TN_OK;
  });
}

void Lane::raise() {
  if (!has_gates()) return;
  gate_raised_ = gate_next_;
  device_.signal(gate_.get(), gate_raised_);
}

void Lane::peek() {
  for (size_t i = 0; i < lines_.size(); ++i) {
    Line& line = lines_[i];
    const uint64_t value = device_.query(line.handle.get());
    if (value < line.seen)
      find("order", "timeline {}: expected at least {} as before, got {}", i, line.seen, value);
    if (!line.values.contains(value))
      find("order", "timeline {}: expected a value that something raised, got {}", i, value);
    line.seen = value;
    for (const auto& [raises, id] : line.raised_by) {
      const Work* work = find_work(id);
      if (work && raises <= value && is_held(*work))
        find("order", "timeline {}: signalled {} before the host raised what the work waits for", i,
             raises);
    }
  }
}

}  // namespace tenon::conformance::abi::sequences
