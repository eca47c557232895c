// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/stream/device.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sdk/stream/commands.hpp"
#include "sdk/stream/graph.hpp"

namespace tenon::sdk {
namespace {

void check_queue(const Submission& submission) {
  if (submission.queue() != 0)
    refuse(fmt::format("submit: expected queue 0, got {}", submission.queue()));
}

/// An event with a timestamp.
struct Stamp {
  explicit Stamp(StreamContext& context) : context(context) {
    context.check(context.api().event_create(&event, kApiEventBlockingSync), "timing");
  }
  ~Stamp() { context.api().event_destroy(event); }
  Stamp(const Stamp&) = delete;
  Stamp& operator=(const Stamp&) = delete;

  StreamContext& context;
  ApiEvent* event = nullptr;
};

StreamPoint read_point(const tn_point& point) {
  return {static_cast<StreamTimeline&>(*timeline_of(point.timeline)).state(), point.value};
}

}  // namespace

StreamDevice::StreamDevice(StreamVendor& vendor, uint32_t ordinal, std::string target,
                           std::shared_ptr<const PropertyTable> table, StreamScheduler& scheduler)
    : context_(StreamContext::open(vendor, ordinal)),
      target_(std::move(target)),
      table_(std::move(table)),
      scheduler_(scheduler) {
  const StreamApi& api = context_->api();
  const ActiveDevice active = context_->activate();
  context_->check(api.stream_create(&stream_, kApiStreamNonBlocking), "stream");
  if (!vendor.has_memory_pools(ordinal)) return;
  const int code = api.stream_create(&allocation_, kApiStreamNonBlocking);
  if (code != 0) api.stream_destroy(stream_);
  context_->check(code, "stream");
}

StreamDevice::~StreamDevice() {
  scheduler_.drop(this);
  const ActiveDevice active = context_->activate_to_destroy();
  if (!active) return;
  const StreamApi& api = context_->api();
  for (ApiStream* stream : {stream_, allocation_}) {
    if (!stream) continue;
    api.stream_synchronize(stream);
    api.stream_destroy(stream);
  }
}

std::unique_ptr<Memory> StreamDevice::allocate(uint32_t space, uint64_t size) {
  if (space == kPinnedSpace) return allocate_pinned_memory(context_, size);
  return allocate_device_memory(context_, size, allocation_);
}

std::unique_ptr<Memory> StreamDevice::import_host(uint32_t space, void* pointer, uint64_t size) {
  if (space != kPinnedSpace) {
    refuse(fmt::format("memory_import: expected space {}, got {}", kPinnedSpace, space));
  }
  return import_host_memory(context_, pointer, size);
}

std::unique_ptr<Timeline> StreamDevice::make_timeline(uint64_t value) {
  if (const auto lost = context_->lost()) throw Failure(*lost);
  return std::make_unique<StreamTimeline>(scheduler_, value);
}

bool StreamDevice::can_copy_from(StreamDevice& source) {
  if (&source.context_->vendor() != &context_->vendor()) return false;
  const uint32_t here = context_->device(), there = source.context_->device();
  if (here == there) return true;
  const ActiveDevice active = context_->activate();
  return context_->vendor().reach_peer(here, there);
}

void StreamDevice::check_slab(tn_memory* memory, bool may_be_peer) {
  if (!memory) return;
  const auto& slab = static_cast<const StreamMemory&>(*memory_of(memory));
  StreamContext& home = slab.context();
  if (&home == context_.get() || slab.is_pinned()) return;
  const uint32_t here = context_->device(), there = home.device();
  if (here == there || (may_be_peer && context_->vendor().reach_peer(here, there))) return;
  refuse(fmt::format("submit: expected memory of device {}, got some of device {}", here, there));
}

HostWork StreamDevice::read(const Submission& submission) {
  for (uint32_t i = 0; i < submission.command_count(); ++i) {
    const tn_command command = submission.command(i);
    if (command.kind == TN_COMMAND_LAUNCH) {
      for (uint32_t a = 0; a < command.argument_count; ++a) {
        check_slab(Submission::argument(command, a).memory, false);
      }
    } else {
      check_slab(command.destination, false);
      if (command.kind == TN_COMMAND_COPY) check_slab(command.source, true);
    }
  }
  HostWork work = read_work(submission);
  check_launches(work, *context_);
  return work;
}

void StreamDevice::submit(const Submission& submission) {
  const ActiveDevice active = context_->activate();
  auto work = std::make_shared<const HostWork>(read(submission));
  schedule(submission, [this, work] { enqueue_commands(*work, *context_, stream_); });
}

uint64_t StreamDevice::run_timed(const tn_submission& commands) {
  const ActiveDevice active = context_->activate();
  const Submission submission(&commands);
  check_queue(submission);
  const HostWork work = read(submission);
  const StreamApi& api = context_->api();
  const Stamp begin(*context_), end(*context_);
  try {
    context_->check(api.event_record(begin.event, stream_), "timing");
    enqueue_commands(work, *context_, stream_);
    context_->check(api.event_record(end.event, stream_), "timing");
    context_->check(api.event_synchronize(end.event), "timing");
  } catch (const Failure&) {
    api.stream_synchronize(stream_);  // nothing of it may run on
    throw;
  }
  float milliseconds = 0;
  context_->check(api.event_elapsed(&milliseconds, begin.event, end.event), "timing");
  return static_cast<uint64_t>(static_cast<double>(std::max(milliseconds, 0.0F)) * 1e6);
}

void StreamDevice::launch(const StreamGraph& graph, const Submission& submission) {
  const ActiveDevice active = context_->activate();
  if (submission.command_count()) refuse("graph launch: expected no commands");
  ApiGraphExec* exec = graph.handle();
  schedule(submission,
           [this, exec] { context_->check(context_->api().graph_launch(exec, stream_), "graph"); });
}

std::unique_ptr<StreamGraph> StreamDevice::record(const Submission& commands) {
  const ActiveDevice active = context_->activate();
  return std::make_unique<StreamGraph>(*this, read(commands));
}

void StreamDevice::schedule(const Submission& submission, std::function<void()> enqueue) {
  check_queue(submission);
  StreamScheduler::Work work;
  work.owner = this;
  for (uint32_t i = 0; i < submission.wait_count(); ++i) {
    work.waits.push_back(read_point(submission.wait(i)));
  }
  for (uint32_t i = 0; i < submission.signal_count(); ++i) {
    work.signals.push_back(read_point(submission.signal(i)));
  }
  work.start = [this, enqueue = std::move(enqueue)](const StreamScheduler::Work& all) {
    start(all, enqueue);
  };
  scheduler_.submit(std::move(work));
}

void StreamDevice::start(const StreamScheduler::Work& work, const std::function<void()>& enqueue) {
  const StreamApi& api = context_->api();
  EventList others;  // events of this device's stream are ordered anyway
  for (const StreamPoint& point : work.waits) {
    auto event = point.state->state_of(point.value).event;
    if (event && event->queue() != context_.get()) others.push_back(std::move(event));
  }
  const ActiveDevice active = context_->activate();
  auto event = std::make_shared<StreamEvent>(context_);
  for (const auto& other : others) {
    const auto& handle = static_cast<const StreamEvent&>(*other);
    context_->check(api.stream_wait_event(stream_, handle.handle(), 0), "wait");
  }
  try {
    enqueue();
    event->record(stream_);
  } catch (const Failure&) {
    api.stream_synchronize(stream_);  // nothing of it may run on when its signals have failed
    throw;
  }
  for (const StreamPoint& point : work.signals) point.state->promise(point.value, event, others);
}

}  // namespace tenon::sdk
