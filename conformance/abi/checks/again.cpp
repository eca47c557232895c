// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of executables that are launched again and again: with other arguments, alternating with
// another one, in one submission and in several that are in flight together.
#include <algorithm>
#include <array>
#include <deque>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/slab.hpp"
#include "conformance/cases/gradually.hpp"
#include "conformance/cases/random.hpp"

namespace tenon::conformance::abi::checks {
namespace {

constexpr size_t kSlabs = 3, kDecisions = 7;
constexpr uint64_t kMostElements = 600, kPlaces = 5;

/// Launches by chance, and what they leave.
class Launches {
 public:
  Launches(const OpenDevice& device, uint64_t seed) : device_(device), random_(seed) {
    step_ = std::max<uint64_t>(device.spaces()[0].alignment, 8);
    size_ = (step_ * kPlaces + kMostElements * 8 + 4096 + step_ - 1) / step_ * step_;
    for (size_t i = 0; i < kSlabs; ++i) {
      memory_[i] = any_memory(device, size_);
      std::vector<uint8_t> bytes(size_);
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_.below(256));
      model_[i].resize(size_);
      model_[i].set(0, bytes.data(), size_, 0);
      device.write(memory_[i].get(), 0, 0, bytes);
    }
  }

  /// As the one before but for its executable, for a scalar or for a place; or as nothing before.
  void add(std::span<const Loaded> kernels) {
    const uint64_t way = commands_.empty() ? 9 : random_.below(10);
    if (way >= 6 || way < 2) which_ = random_.below(kernels.size());
    if (way >= 6) to_ = random_.below(kSlabs), from_ = (to_ + 1 + random_.below(2)) % kSlabs;
    if (way >= 4) at_ = random_.below(kPlaces), origin_ = random_.below(kPlaces);
    if (way >= 6) count_ = 1 + random_.below(kMostElements / 2);
    if (way >= 2) scalar_ = static_cast<int64_t>(random_.below(90));
    const auto& [kernel, executable] = kernels[which_];
    const auto extent = kernel.extent(count_);
    const uint64_t at = at_ * step_, origin = origin_ * step_, width = kernel.element_bytes();
    const uint64_t scalar = kernel.scalar_bits(scalar_);
    if (std::max(at, origin) + std::max(extent.inputs, extent.outputs) * width > size_) return;
    commands_.push_back(launch_command(kernel, executable.get(), extent, {memory_[to_].get(), at},
                                       {memory_[from_].get(), origin}, scalar,
                                       arguments_.emplace_back()));
    kernel.apply(extent, model_[from_].range(origin, extent.inputs * width),
                 model_[to_].range(at, extent.outputs * width), scalar);
  }

  std::span<const tn_command> commands() const { return commands_; }

  void expect_result(const char* when) const {
    for (size_t i = 0; i < kSlabs; ++i) {
      std::vector<uint8_t> got(size_);
      device_.read(memory_[i].get(), 0, 0, got);
      model_[i].compare(i, 0, got, fmt::format("after {} launches {}", commands_.size(), when));
    }
  }

 private:
  const OpenDevice& device_;
  Random random_;
  uint64_t step_ = 0, size_ = 0;
  MemoryHandle memory_[kSlabs];
  Slab model_[kSlabs];
  std::deque<LaunchArguments> arguments_;
  std::vector<tn_command> commands_;
  size_t which_ = 0, to_ = 0, from_ = 1;
  uint64_t at_ = 0, origin_ = 0, count_ = 1;
  int64_t scalar_ = 0;
};

/// Two of each kind, which differ in a constant.
std::vector<Loaded> some_kernels(const OpenDevice& device) {
  need(device.computes() && device.submits(), "the device has memory only");
  std::vector<Loaded> out;
  for (const char* kind : {"add", "accumulate", "scalar", "sum", "reverse", "shifted", "max"})
    for (const int64_t constant : {3, 4}) {
      KernelSpec spec;
      spec.kind = kind;
      spec.dtype = TN_DTYPE_U32;
      spec.constant = constant;
      spec.threads = constant == 3 ? 1 : 16;
      if (auto loaded = load_kernel(spec, device)) out.push_back(std::move(*loaded));
    }
  need(!out.empty(), "the device takes none of the small programs");
  return out;
}

/// A few of them, so that each comes often.
std::span<const Loaded> draw(std::span<const Loaded> kernels, Random& random) {
  const size_t first = random.below(kernels.size());
  return kernels.subspan(first, std::min<size_t>(kernels.size() - first, 1 + random.below(3)));
}

constexpr int kRounds = 14, kLaunches = 12;

void launched_again(const CheckContext& c) {
  const OpenDevice device = c.open();
  const std::vector<Loaded> kernels = some_kernels(device);
  Random random(mix(c.seed, 0x616761696e));
  for (int round = 0; round < kRounds; ++round) {
    c.alive();
    Launches launches(device, random.bits());
    const auto some = draw(kernels, random);
    for (int i = 0; i < kLaunches; ++i) launches.add(some);
    device.run(launches.commands());
    launches.expect_result("in one submission");
  }
}

/// One submission after the other, each waiting for the one before, while the first waits for the
/// host; or as fast as they come.
void launched_in_flight(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(device.is_async(), "the device is synchronous");
  const std::vector<Loaded> kernels = some_kernels(device);
  Random random(mix(c.seed, 0x666c69676874));
  for (int round = 0; round < kRounds; ++round) {
    c.alive();
    Launches launches(device, random.bits());
    const auto some = draw(kernels, random);
    for (int i = 0; i < kLaunches; ++i) launches.add(some);
    const bool is_gated = round % 2 == 0;
    const TimelineHandle line = device.make_timeline(is_gated ? 0 : 1);
    std::vector<TimelineHandle> ends;  // of each by itself, as a failure is one of the line
    Unfinished work(device, line.get(), 1);
    uint64_t value = 1;
    for (auto rest = launches.commands(); !rest.empty(); ++value) {
      const size_t count = std::min<size_t>(rest.size(), 1 + random.below(3));
      ends.push_back(device.make_timeline(0));
      const tn_point wait{line.get(), value};
      const tn_point signals[] = {{line.get(), value + 1}, {ends.back().get(), 1}};
      device.submit(submission_of(rest.first(count), {&wait, 1}, signals));
      work.ends_with(signals[1]);
      rest = rest.subspan(count);
    }
    if (is_gated) device.signal(line.get(), 1);
    device.wait(line.get(), value);
    launches.expect_result("in submissions that were in flight together");
  }
}

/// Submissions in flight, each with a word of its own to fill and a value of its own to wait for,
/// of which the host reaches all but the last few first.
void many_in_flight(const CheckContext& c) {
  constexpr uint32_t kLast = 3;
  const OpenDevice device = submitting_with_timelines(c);
  gradually(20, 1500, [&](uint32_t count) {
    c.alive();
    const MemoryHandle memory = any_memory(device, uint64_t{count} * 4);
    device.write(memory.get(), 0, 0, std::vector<uint8_t>(size_t{count} * 4, 0));
    const TimelineHandle gate = device.make_timeline(0);
    std::vector<TimelineHandle> ends;  // which come in any order
    Unfinished work(device, gate.get(), count);
    for (uint32_t k = 0; k < count; ++k) {
      const tn_command fill = fill_command(memory.get(), uint64_t{k} * 4, 4, k + 0x1000, 4);
      ends.push_back(device.make_timeline(0));
      const tn_point wait{gate.get(), k + 1}, signal{ends.back().get(), 1};
      device.submit(submission_of({&fill, 1}, {&wait, 1}, {&signal, 1}));
      work.ends_with(signal);
    }
    uint32_t early = count;
    const auto look_for_early = [&](uint32_t first) {
      for (uint32_t k = first; k < count && early == count; ++k)
        if (device.query(ends[k].get()) != 0) early = k;
    };
    settle();
    look_for_early(0);
    device.signal(gate.get(), count - kLast);
    for (uint32_t k = 0; k < count - kLast; ++k) device.wait(ends[k].get(), 1);
    settle();
    look_for_early(count - kLast);
    device.signal(gate.get(), count);
    for (const TimelineHandle& end : ends) device.wait(end.get(), 1);
    if (early < count)
      find("order",
           "submission {} of {} in flight: expected it to wait until the host signals {}, but it "
           "has run",
           early, count, early + 1);
    std::vector<uint32_t> words(count);
    device.read(memory.get(), 0, 0, {reinterpret_cast<uint8_t*>(words.data()), words.size() * 4});
    for (uint32_t k = 0; k < count; ++k)
      if (words[k] != k + 0x1000)
        find("mismatch", "submission {} of {} in flight: expected {:#x} where it fills, got {:#x}",
             k, count, k + 0x1000, words[k]);
  });
}

/// What a scalar decides: which side of an IF, how many iterations of a LOOP, a choice, an index.
sdk::Program deciding_program() {
  sdk::ProgramBuilder b("deciding");
  using Value = sdk::ProgramBuilder::Value;
  const auto whole = [&](int64_t n) {
    return b.constant(TN_DTYPE_I32, static_cast<uint32_t>(static_cast<int32_t>(n)));
  };
  const Value out = b.buffer("out", TN_DTYPE_I32, TN_ACCESS_READ | TN_ACCESS_WRITE, kDecisions);
  const Value s = b.scalar("s", TN_DTYPE_I32, 0, 90);
  const auto store = [&](int64_t at, Value value) {
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, whole(at), value});
  };
  const Value is_low = b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {s, whole(50)});
  b.begin_if(is_low);
  store(0, whole(111));
  b.begin_else();
  store(0, whole(222));
  b.end();
  b.begin_if(b.op(TN_OP_CMPNE, TN_DTYPE_BOOL, 1, {s, whole(7)}));
  store(1, s);
  b.end();
  const Value first[] = {whole(5)};
  const Value loop = b.begin_loop(whole(0), s, whole(1), first);
  const Value next[] = {b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {loop + 1, whole(3)})};
  b.end(next);
  store(2, loop + 1);
  store(3, b.op(TN_OP_WHERE, TN_DTYPE_I32, 1, {is_low, whole(1), whole(2)}));
  const Value third = b.op(TN_OP_MOD, TN_DTYPE_I32, 1, {s, whole(3)});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
       {out, b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {third, whole(4)}), whole(9)});
  return b.finish();
}

/// One executable, with scalars that decide otherwise each time.
void scalars_decide(const CheckContext& c) {
  constexpr int32_t kScalars[] = {10, 90, 7, 10, 50, 49, 0, 8, 7, 90, 2, 1};
  constexpr int32_t kOld = -3;
  const OpenDevice device = computing(c);
  need(device.properties().flags & TN_DEVICE_SYMBOLIC, "the device takes no scalars");
  const CompileAnswer answer = device.compile(*deciding_program().get());
  need(answer.executable != nullptr, "the device takes no such program");
  const uint64_t alignment = std::max<uint64_t>(device.spaces()[0].alignment, 4);
  const uint64_t step = (kDecisions * 4 + alignment - 1) / alignment * alignment;
  for (const bool is_together : {false, true}) {
    const MemoryHandle memory = any_memory(device, step * std::size(kScalars));
    std::vector<std::array<tn_argument, 2>> arguments(std::size(kScalars));
    std::vector<tn_command> commands = {fill_command(
        memory.get(), 0, step * std::size(kScalars) / 4 * 4, static_cast<uint32_t>(kOld), 4)};
    for (size_t i = 0; i < std::size(kScalars); ++i) {
      arguments[i][0] = buffer_argument(memory.get(), i * step, kDecisions * 4);
      arguments[i][1] = sdk::scalar_argument(static_cast<uint32_t>(kScalars[i]));
      commands.push_back(launch_command(answer.executable.get(), {1, 1, 1}, {}, arguments[i]));
    }
    if (is_together) device.run(commands);
    for (size_t i = 0; i < commands.size() && !is_together; ++i) device.run({&commands[i], 1});
    for (size_t i = 0; i < std::size(kScalars); ++i) {
      const int32_t s = kScalars[i];
      int32_t got[kDecisions];
      device.read(memory.get(), 0, i * step, {reinterpret_cast<uint8_t*>(got), sizeof got});
      int32_t wanted[kDecisions] = {
          s < 50 ? 111 : 222, s == 7 ? kOld : s, 5 + 3 * s, s < 50 ? 1 : 2, kOld, kOld, kOld};
      wanted[4 + s % 3] = 9;
      for (size_t k = 0; k < kDecisions; ++k)
        if (got[k] != wanted[k])
          find("mismatch",
               "launch {} of one executable, with the scalar {}: expected {} at {}, got {}", i, s,
               wanted[k], k, got[k]);
    }
  }
}

}  // namespace

std::span<const CheckRow> again_checks() {
  static constexpr CheckRow kRows[] = {
      {"launched_again", launched_again, 61},
      {"launched_in_flight", launched_in_flight, 61},
      {"many_in_flight", many_in_flight, 32},
      {"scalars_decide", scalars_decide, 61},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
