// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frame: which step is which function, batches of commands, and the end of everything.
#include "conformance/abi/sequences/runner.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>
#include <utility>

#include "conformance/abi/programs/runner.hpp"
#include "conformance/cases/abi/programs.hpp"
#include "conformance/cases/random.hpp"

namespace tenon::conformance::abi::sequences {
namespace {

constexpr std::string_view kCompile = "compile.";

}  // namespace

uint64_t SequenceRunner::Numbers::size(size_t i) const {
  return std::min(static_cast<uint64_t>(std::max<int64_t>(at(i), 0)), kMostMemoryBytes);
}

size_t SequenceRunner::Numbers::slot(size_t i, int64_t slots) const {
  return static_cast<size_t>((at(i) % slots + slots) % slots);
}

const std::vector<std::pair<std::string, SequenceRunner::Step>>& SequenceRunner::steps() {
  using Self = SequenceRunner;
  static const std::vector<std::pair<std::string, Step>> table = {
      {"device", &Self::device},
      {"allocate", &Self::allocate},
      {"import", &Self::import},
      {"free", &Self::free},
      {"write", &Self::write},
      {"read", &Self::read},
      {"map", &Self::map},
      {"unmap", &Self::unmap},
      {"fill", &Self::fill},
      {"copy", &Self::copy},
      {"destroy", &Self::destroy},
      {"reload", &Self::reload},
      {"damage", &Self::damage},
      {"launch", &Self::launch},
      {"submit", &Self::submit},
      {"raise", &Self::raise},
      {"peek", &Self::peek},
      {"await", &Self::await},
      {"timeline", &Self::timeline},
      {"race.compile", &Self::race_compile},
      {"race.submit", &Self::race_submit},
      {"race.wait", &Self::race_wait},
      {"huge", &Self::huge},
      {"end", &Self::end},
  };
  return table;
}

void SequenceRunner::run(const Sequence& sequence, const std::function<void()>& alive) {
  seats_[0] = std::make_unique<Seat>(subject_, subject_.index, subject_.options_or_null());
  for (const SequenceStep& step : sequence.steps) {
    ++step_;
    text_ = step.verb;
    for (const int64_t number : step.numbers) text_ += fmt::format(" {}", number);
    if (run_step(step)) ++done_;
    alive();
  }
  text_ = "the end";
  tear_down(end_seed_);
}

bool SequenceRunner::run_step(const SequenceStep& step) {
  const Numbers numbers{step.numbers};
  if (is_program(step) || is_made_program(step)) {
    programs::LeftOut left_out = is_program(step) ? programs::run_program(seat(0).opened, step)
                                                  : programs::run_made(seat(0).opened, step);
    const bool ran = left_out.why.empty();
    if (!ran && (left_out.too_long || !left_out_.too_long)) left_out_ = std::move(left_out);
    return ran;
  }
  if (step.verb.starts_with(kCompile)) return compile(step.verb.substr(kCompile.size()), numbers);
  const auto row = std::ranges::find(steps(), step.verb, &std::pair<std::string, Step>::first);
  TN_REQUIRE(row != steps().end(), "[sequence] expected a verb, got \"{}\"", step.verb);
  return (this->*row->second)(numbers);
}

std::string_view SequenceRunner::verb() const {
  return std::string_view(text_).substr(0, text_.find(' '));
}

std::string SequenceRunner::where() const { return fmt::format("step {} ({})", step_, text_); }

SequenceRunner::Seat& SequenceRunner::seat(size_t slot) {
  return seats_[slot] ? *seats_[slot] : *seats_[0];
}

SequenceRunner::Seat* SequenceRunner::seat_of(const Numbers& numbers, size_t i) {
  return seats_[numbers.slot(i, kDeviceSlots)].get();
}

bool SequenceRunner::is_mapped(const Access& access) const {
  const auto& slab = slabs_[access.slab];
  return slab && slab->mapped && access.begin < slab->mapped_end && slab->mapped_begin < access.end;
}

bool SequenceRunner::add(size_t device, const tn_command& command, std::vector<Access> accesses) {
  if (std::ranges::any_of(accesses, [&](const Access& a) { return is_mapped(a); })) return false;
  // A command of no bytes still names its slabs, which must outlive it.
  if (command.kind != TN_COMMAND_LAUNCH && command.size == 0)
    for (Access& access : accesses) access.begin = 0, access.end = 1;
  Batch& batch = batches_[device];
  batch.commands.push_back(command);
  batch.accesses.insert(batch.accesses.end(), accesses.begin(), accesses.end());
  return true;
}

void SequenceRunner::flush(size_t device) {
  if (batches_[device].commands.empty() || !seats_[device]) return;
  const Batch batch = std::exchange(batches_[device], {});
  seats_[device]->lane.submit(batch, std::exchange(requests_[device], {}));
}

void SequenceRunner::settle(const Access& access) {
  const size_t device = slabs_[access.slab]->device;
  const Batch& batch = batches_[device];
  if (std::ranges::any_of(batch.accesses, [&](const Access& a) { return conflict(a, access); }))
    flush(device);
  seats_[device]->lane.settle(access);
}

void SequenceRunner::drop_slab(size_t slot) {
  settle({slot, 0, slabs_[slot]->size(), true});
  bytes_ -= slabs_[slot]->size();
  slabs_[slot].reset();
}

void SequenceRunner::drop_executable(size_t slot) {
  const size_t device = executables_[slot]->device;
  if (batches_[device].executables.contains(slot)) flush(device);
  seats_[device]->lane.settle_executable(slot);
  executables_[slot].reset();
}

bool SequenceRunner::submit(const Numbers& numbers) {
  bool any = false;
  for (size_t device = 0; device < seats_.size(); ++device) {
    if (batches_[device].commands.empty()) continue;
    requests_[device] = {static_cast<uint32_t>(numbers.slot(0, 4)), numbers.slot(1, kTimelines),
                         numbers.at(2) > 0, static_cast<uint32_t>(numbers.slot(3, 3))};
    flush(device);
    any = true;
  }
  return any;
}

bool SequenceRunner::raise(const Numbers&) {
  bool any = false;
  for (auto& seat : seats_) {
    if (!seat || !seat->lane.has_gates()) continue;
    seat->lane.raise();
    any = true;
  }
  return any;
}

bool SequenceRunner::peek(const Numbers& numbers) {
  constexpr uint64_t kLongest = 5000;
  std::this_thread::sleep_for(std::chrono::microseconds(std::min(numbers.size(0), kLongest)));
  for (auto& seat : seats_)
    if (seat) seat->lane.peek();
  return true;
}

bool SequenceRunner::await(const Numbers&) {
  for (size_t device = 0; device < seats_.size(); ++device) {
    flush(device);
    if (seats_[device]) seats_[device]->lane.settle_all();
  }
  return true;
}

bool SequenceRunner::timeline(const Numbers& numbers) {
  Seat* seat = seat_of(numbers, 1);
  if (!seat || !seat->opened.is_async()) return false;
  seat->lane.renew(numbers.slot(0, kTimelines),
                   static_cast<uint64_t>(std::max<int64_t>(numbers.at(2), 0)));
  return true;
}

bool SequenceRunner::end(const Numbers& numbers) {
  end_seed_ = static_cast<uint64_t>(numbers.at(0));
  return true;
}

/// Every object before its device, otherwise in any order.
void SequenceRunner::tear_down(uint64_t seed) {
  for (auto& slab : slabs_) {
    if (!slab || !slab->mapped) continue;
    seats_[slab->device]->opened.unmap(slab->memory.get());
    slab->mapped = nullptr;
  }
  await({{}});
  std::vector<size_t> order(slabs_.size() + executables_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Random random(seed);
  for (size_t i = order.size(); seed != 0 && i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  for (const size_t at : order) {
    if (at < slabs_.size())
      slabs_[at].reset();
    else
      executables_[at - slabs_.size()].reset();
  }
  if (seed % 2) std::ranges::reverse(seats_);
  for (auto& seat : seats_) seat.reset();
}

SequenceRunner::~SequenceRunner() {
  bool ended = true;
  for (auto& seat : seats_) ended = ended && (!seat || seat->lane.give_up());
  if (ended) {
    slabs_.clear();
    executables_.clear();
    return;
  }
  // What is still in use may not be destroyed: it is left to the process.
  for (auto& slab : slabs_)
    if (slab) new Slab(std::move(*slab));
  for (auto& executable : executables_)
    if (executable) (void)executable->loaded.executable.release();
  for (auto& seat : seats_) (void)seat.release();
}

}  // namespace tenon::conformance::abi::sequences
