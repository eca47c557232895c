// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/selftest/plugin/device.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "conformance/selftest/plugin/interpreter.hpp"
#include "conformance/selftest/plugin/slow_down.hpp"

namespace tenon::planted {
namespace {

constexpr size_t kMostCached = 4096, kMostCodes = 256, kMostInFlight = 64;

constexpr uint64_t kMostGroups = 1 << 17;
constexpr size_t kMostScalarsInFlight = 16;

constexpr int kMostUnseen = 49;

std::atomic<int> opened_devices{0}, closed_devices{0};  ///< devices of the process

/// What a variant makes of the numbers of a timeline.
class PlantedTimeline final : public sdk::HostTimeline {
 public:
  PlantedTimeline(Variant variant, uint64_t value)
      : HostTimeline(stored_value(variant, value)), variant_(variant) {}

  void wait(uint64_t value, uint64_t timeout_ns) override {
    if (variant_ == Variant::timeout_32 && timeout_ns != UINT64_MAX) timeout_ns &= UINT32_MAX;
    if (variant_ == Variant::timeout_overflow && timeout_ns > INT64_MAX && timeout_ns != UINT64_MAX)
      timeout_ns = 0;
    if (variant_ == Variant::zero_waits && timeout_ns == 0) timeout_ns = kWhile;
    if (variant_ == Variant::slow_answers) slow_down();
    HostTimeline::wait(stored_value(variant_, value), timeout_ns);
  }
  uint64_t query() override {
    if (variant_ == Variant::slow_answers) slow_down();
    const uint64_t value = HostTimeline::query();
    return variant_ == Variant::timeline_signed ? value ^ kSign : value;
  }
  void signal(uint64_t value) override {
    const bool is_leap = value - HostTimeline::query() >= kSign;
    if (variant_ == Variant::timeline_leap && is_leap) return;
    HostTimeline::signal(stored_value(variant_, value));
  }

 private:
  static constexpr uint64_t kSign = uint64_t{1} << 63, kWhile = 400'000'000;
  static uint64_t stored_value(Variant variant, uint64_t value) {
    if (variant == Variant::timeline_32) return value & UINT32_MAX;
    if (variant == Variant::timeline_signed) return value ^ kSign;
    if (variant != Variant::timeline_2_53) return value;
    const double rounded = static_cast<double>(value);
    return rounded >= 0x1p64 ? UINT64_MAX : static_cast<uint64_t>(rounded);
  }
  const Variant variant_;
};

[[noreturn]] void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

PlantedDevice::PlantedDevice(Variant variant, std::chrono::milliseconds compile_time)
    : variant_(variant),
      compile_time_(compile_time),
      properties_(make_properties(variant)),
      slabs_(std::make_shared<SlabPool>(variant)),
      cache_(variant),
      closed_before_(closed_devices),
      spare_(variant == Variant::spare_files) {
  if (++opened_devices == 1 && variant == Variant::status_of_exit)
    std::atexit([] {
      if (closed_devices != opened_devices) _exit(70);
    });
  for (auto& queue : queues_)
    queue = std::make_unique<WorkQueue>(
        variant, [this](const auto& command, auto arguments) { launch(command, arguments); });
}

PlantedDevice::~PlantedDevice() { ++closed_devices; }

std::unique_ptr<sdk::Memory> PlantedDevice::allocate(uint32_t, uint64_t size) {
  return slabs_->allocate(size);
}

std::unique_ptr<sdk::Timeline> PlantedDevice::make_timeline(uint64_t value) {
  return std::make_unique<PlantedTimeline>(variant_, value);
}

void PlantedDevice::submit(const sdk::Submission& submission) {
  if (submission.queue() >= kQueues) {
    if (variant_ == Variant::refused_runs)
      sdk::run_work(sdk::read_work(submission),
                    [this](const auto& command, auto arguments) { launch(command, arguments); });
    throw sdk::Failure(
        TN_ERROR_INVALID_ARGUMENT,
        fmt::format("submit: expected a queue below {}, got {}", kQueues, submission.queue()));
  }
  Job job;
  job.work = sdk::read_work(submission);
  const auto read_point = [](const tn_point& point) {
    return std::pair(static_cast<sdk::HostTimeline*>(sdk::timeline_of(point.timeline)),
                     point.value);
  };
  for (uint32_t i = 0; i < submission.wait_count(); ++i)
    job.waits.push_back(read_point(submission.wait(i)));
  for (uint32_t i = 0; i < submission.signal_count(); ++i)
    job.signals.push_back(read_point(submission.signal(i)));
  distort(variant_, submission, job);
  if (variant_ == Variant::close_stops && closed_devices != closed_before_)
    job.work.commands.clear();
  const std::lock_guard lock(order_);
  if (variant_ == Variant::in_flight_64 || variant_ == Variant::waits_64) {
    size_t in_flight = 0;
    for (const auto& queue : queues_)
      queue->any_pending([&](const Job&) { return ++in_flight == kMostInFlight; });
    if (in_flight >= kMostInFlight) {
      if (variant_ == Variant::in_flight_64) job.work.commands.clear();
      if (variant_ == Variant::waits_64) {
        sdk::run_work(job.work,
                      [this](const auto& command, auto arguments) { launch(command, arguments); });
        for (const auto& [timeline, value] : job.signals) timeline->signal(value);
        return;
      }
    }
  }
  if (variant_ == Variant::unseen_48 && ++unseen_submissions == kMostUnseen)
    job.work.commands.clear();
  if (variant_ == Variant::in_flight_ring) share_in_flight(job);
  if (variant_ == Variant::write_after_read && !job.waits.empty()) {
    WorkQueue& other = *queues_[1 - submission.queue()];
    const auto looks_independent = [&](const Job& earlier) {
      return earlier.signals_one_of(job) && job.only_overwrites(earlier);
    };
    if (other.any_pending(looks_independent)) job.waits.clear();
  }
  queues_[submission.queue()]->push(std::move(job));
}

/// Scalars of launches in flight have 16 places: a 17th takes the first one's.
void PlantedDevice::share_in_flight(Job& job) {
  size_t in_flight = 0;
  for (const auto& queue : queues_)
    queue->any_pending([&](const Job& pending) {
      in_flight += !pending.work.arguments.empty();
      return false;
    });
  for (sdk::HostArgument& argument : job.work.arguments)
    if (!argument.data && in_flight >= kMostScalarsInFlight) argument.scalar = 0;
}

void PlantedDevice::launch(const sdk::HostCommand& command,
                           std::span<const sdk::HostArgument> arguments) {
  const auto& executable = static_cast<const PlantedExecutable&>(*command.executable);
  Launch launch{executable.code(), {arguments.begin(), arguments.end()}, {}};
  std::copy_n(command.grid, 3, launch.grid);
  launches_.distort(variant_, executable.state(), launch);
  const Code& code = *launch.code;
  if (code.hangs) hang();
  if (variant_ == Variant::empty_or_scalar && code.all_single) return;
  if (variant_ == Variant::twin_destroyed && code.gone) return;
  if (variant_ == Variant::text_takes_code && executable.state().is_told) return;
  if (variant_ == Variant::saved_keeps_scalars && executable.state().is_saved) {
    std::vector<sdk::HostArgument>& kept = executable.state().arguments;
    for (size_t k = 0; k < kept.size(); ++k)
      if (!launch.arguments[k].data) launch.arguments[k].scalar = kept[k].scalar;
    if (kept.empty()) kept = launch.arguments;
  }
  Interpreter interpreter(code, launch.arguments, launch.grid);
  uint64_t left = variant_ == Variant::groups_2_17 ? kMostGroups : UINT64_MAX;
  const uint64_t groups = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  if (variant_ == Variant::odd_last_group && groups > 1024 && groups % 64 == 1) left = groups - 1;
  sdk::each_workgroup(launch.grid, [&](const auto& group) {
    if (left > 0) interpreter.run_group(group);
    left -= left > 0;
  });
}

std::shared_ptr<const Code> CodeCache::find_or_make(const sdk::ProgramView& program) {
  const std::string key = key_of(program);
  const std::lock_guard lock(mutex_);
  if (const auto found = made_.find(key); found != made_.end()) {
    found->second->gone = false;
    return found->second;
  }
  if (variant_ == Variant::codes_256 && made_.size() >= kMostCodes) return made_.begin()->second;
  if (made_.size() >= kMostCached) made_.clear();
  return made_[key] = std::make_shared<const Code>(variant_, sdk::Program(program));
}

/// The program's bytes; or, as somebody thought would do, all but names and something else.
std::string CodeCache::key_of(const sdk::ProgramView& program) const {
  const auto bytes = program.bytes();
  const bool is_unordered = variant_ == Variant::key_unordered;
  const bool is_half = variant_ == Variant::key_low_half;
  const bool has_no_size = variant_ == Variant::key_no_workgroup;
  if (variant_ != Variant::key_ignores_dtype && !is_unordered && !is_half && !has_no_size)
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const bool has_dtypes = is_unordered || is_half || has_no_size;
  const auto& size = program.header().workgroup;
  std::string key;
  if (!has_no_size) key = fmt::format("{} {} {}", size[0], size[1], size[2]);
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    const tn_param& p = program.param(i);
    key += fmt::format(";{} {} {} {} {}", p.kind, p.space, p.count, p.access,
                       has_dtypes ? p.dtype : sdk::dtype_bytes(static_cast<uint8_t>(p.dtype)));
  }
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    key += fmt::format(";{} {} {} {} {}:", op.op, op.lanes, is_half ? op.imm & UINT32_MAX : op.imm,
                       op.flags, has_dtypes ? op.dtype : sdk::dtype_bytes(op.dtype));
    const auto all = program.operands(op);
    std::vector<uint32_t> operands(all.begin(), all.end());
    if (is_unordered) std::ranges::sort(operands);
    for (const uint32_t operand : operands) key += fmt::format("{} ", operand);
  }
  return key;
}

}  // namespace tenon::planted
