// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/selftest/plugin/device.hpp"

#include <fmt/format.h>

#include <chrono>
#include <new>

#include "conformance/selftest/plugin/interpreter.hpp"

namespace tenon::planted {
namespace {

constexpr size_t kMostCached = 4096;

[[noreturn]] void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

PlantedDevice::PlantedDevice(Variant variant)
    : variant_(variant),
      properties_(make_properties(variant)),
      slabs_(std::make_shared<SlabPool>(variant == Variant::stale_pooled)),
      cache_(variant) {
  for (auto& queue : queues_)
    queue = std::make_unique<WorkQueue>(
        variant, [this](const auto& command, auto arguments) { launch(command, arguments); });
}

std::unique_ptr<sdk::Memory> PlantedDevice::allocate(uint32_t, uint64_t size) {
  return slabs_->allocate(size);
}

std::unique_ptr<sdk::Timeline> PlantedDevice::make_timeline(uint64_t value) {
  return std::make_unique<sdk::HostTimeline>(value);
}

void PlantedDevice::submit(const sdk::Submission& submission) {
  if (submission.queue() >= kQueues) {
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
  const std::lock_guard lock(order_);
  if (variant_ == Variant::write_after_read && !job.waits.empty()) {
    WorkQueue& other = *queues_[1 - submission.queue()];
    const auto looks_independent = [&](const Job& earlier) {
      return earlier.signals_one_of(job) && job.only_overwrites(earlier);
    };
    if (other.any_pending(looks_independent)) job.waits.clear();
  }
  queues_[submission.queue()]->push(std::move(job));
}

void PlantedDevice::launch(const sdk::HostCommand& command,
                           std::span<const sdk::HostArgument> arguments) {
  const Code& code = static_cast<const PlantedExecutable&>(*command.executable).code();
  if (code.hangs) hang();
  if (variant_ == Variant::empty_or_scalar && code.all_single) return;
  Interpreter interpreter(code, arguments, command.grid);
  sdk::each_workgroup(command.grid, [&](const auto& group) { interpreter.run_group(group); });
}

std::shared_ptr<const Code> CodeCache::find_or_make(const sdk::ProgramView& program) {
  const std::string key = key_of(program);
  const std::lock_guard lock(mutex_);
  if (const auto found = made_.find(key); found != made_.end()) return found->second;
  if (made_.size() >= kMostCached) made_.clear();
  return made_[key] = std::make_shared<const Code>(variant_, sdk::Program(program));
}

/// The program's bytes; or, as somebody thought would do, all but names and dtypes.
std::string CodeCache::key_of(const sdk::ProgramView& program) const {
  const auto bytes = program.bytes();
  if (variant_ != Variant::key_ignores_dtype)
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const auto& size = program.header().workgroup;
  std::string key = fmt::format("{} {} {}", size[0], size[1], size[2]);
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    const tn_param& p = program.param(i);
    key += fmt::format(";{} {} {} {} {}", p.kind, p.space, p.count, p.access,
                       sdk::dtype_bytes(static_cast<uint8_t>(p.dtype)));
  }
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    key += fmt::format(";{} {} {} {} {}:", op.op, op.lanes, op.imm, op.flags,
                       sdk::dtype_bytes(op.dtype));
    for (const uint32_t operand : program.operands(op)) key += fmt::format("{} ", operand);
  }
  return key;
}

}  // namespace tenon::planted
