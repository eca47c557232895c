// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of executables that are launched again and again: with other arguments, in turns with
// another one, in one submission and in several that are in flight together.
#include <algorithm>
#include <deque>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/slab.hpp"
#include "conformance/cases/random.hpp"

namespace tenon::conformance::abi::checks {
namespace {

constexpr size_t kSlabs = 3;
constexpr uint64_t kMostElements = 600, kPlaces = 5;

/// Launches by chance, and what they leave.
class Launches {
 public:
  Launches(const Opened& device, uint64_t seed) : device_(device), random_(seed) {
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
  const Opened& device_;
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
std::vector<Loaded> some_kernels(const Opened& device) {
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
  const Opened device = c.open();
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
  const Opened device = c.open();
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
    Unfinished work(device, line.get(), 1);
    uint64_t value = 1;
    for (auto rest = launches.commands(); !rest.empty(); ++value) {
      const size_t count = std::min<size_t>(rest.size(), 1 + random.below(3));
      const tn_point wait{line.get(), value}, signal{line.get(), value + 1};
      tn_submission submission = submission_of(rest.first(count));
      submission.waits = &wait;
      submission.signals = &signal;
      submission.wait_count = submission.signal_count = 1;
      device.submit(submission);
      work.ends_with(signal);
      rest = rest.subspan(count);
    }
    if (is_gated) device.signal(line.get(), 1);
    device.wait(line.get(), value);
    launches.expect_result("in submissions that were in flight together");
  }
}

constexpr CheckRow kRows[] = {
    {"launched_again", launched_again},
    {"launched_in_flight", launched_in_flight},
};

}  // namespace

std::span<const CheckRow> again_checks() { return kRows; }

}  // namespace tenon::conformance::abi::checks
