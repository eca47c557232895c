// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/run_plan.hpp"

#include <algorithm>
#include <utility>

#include "core/plugin/abi_struct.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

void use(Frame& frame, Buffer* buffer) {
  if (buffer && buffer->memory()) frame.used.push_back(buffer);
}

/// Returns the frame even if the run throws.
struct FrameHold {
  Layout& layout;
  std::unique_ptr<Frame> frame;
  ~FrameHold() { layout.release(std::move(frame)); }
};

void submit(Device& device, const SchedulePlan& plan, const Frame& frame,
            const std::vector<tn_command>& commands, std::vector<Buffer*>& scratch) {
  if (plan.device_count() == 1) return device.submit(commands, std::span(frame.used));
  scratch.clear();
  for (Buffer* buffer : frame.used)
    if (&buffer->device() == &device) scratch.push_back(buffer);
  device.submit(commands, std::span<Buffer* const>(scratch));
}

}  // namespace

void allocate_temporaries(const SchedulePlan& plan, const Layout& layout, Frame& frame) {
  const auto& buffers = plan.schedule().buffers;
  std::vector<Buffer*> arenas(plan.device_count(), nullptr);
  std::vector<int> owner;
  for (size_t d = 0; d < plan.device_count(); ++d) {
    const int64_t bytes = layout.memory.arena_bytes.at(d);
    if (bytes == 0 || plan.device(static_cast<int>(d)).guarded()) continue;
    frame.owned.push_back(
        plan.device(static_cast<int>(d)).allocate(static_cast<uint64_t>(bytes), "temporaries"));
    arenas[d] = frame.owned.back().get();
    use(frame, arenas[d]);
  }
  for (size_t b = 0; b < buffers.size(); ++b) {
    const int64_t offset = layout.memory.offset[b];
    if (offset < 0 || frame.where[b].buffer) continue;
    const auto d = static_cast<size_t>(buffers[b].device);
    if (arenas[d]) {
      frame.where[b] = {arenas[d], static_cast<uint64_t>(offset)};
    } else {  // one buffer each, between guard zones; an output in place shares its input
      if (owner.empty()) owner = owners(plan.schedule());
      const auto shared = static_cast<size_t>(owner[b]);
      if (!frame.where[shared].buffer) {
        const int64_t bytes = std::max(layout.memory.bytes[shared], layout.memory.bytes[b]);
        frame.owned.push_back(
            plan.device(buffers[b].device).allocate(static_cast<uint64_t>(bytes), "temporaries"));
        frame.where[shared] = {frame.owned.back().get(), 0};
      }
      frame.where[b] = frame.where[shared];
      use(frame, frame.where[b].buffer);
    }
  }
}

void copy_bytes(const Location& from, const Location& to, uint64_t size, Frame& frame) {
  if (size == 0 || (from.buffer == to.buffer && from.offset == to.offset)) return;
  Device& device = to.buffer->device();
  const uint64_t number = device.copy(*from.buffer, from.offset, *to.buffer, to.offset, size);
  if (&from.buffer->device() != &device) frame.device_copies.emplace_back(&device, number);
}

void wait_for_device_copies(Frame& frame) {
  const auto device_copies = std::exchange(frame.device_copies, {});
  for (const auto& [device, number] : device_copies) device->wait(number);
}

void execute(const SchedulePlan& plan, const Layout& layout, Frame& frame,
             const SymbolValues& symbols, const RunOptions& options, const Fills* fills) {
  frame.bind();
  std::vector<Buffer*> scratch;
  std::vector<tn_command> first;  // fills, and the first segment where it is of their device
  if (fills && fills->device) {
    first = fills->commands;
    const Segment* const begin = layout.segments.empty() ? nullptr : &layout.segments[0];
    if (!begin || !begin->is_commands || options.validate || options.times ||
        &plan.device(begin->device) != fills->device)
      submit(*fills->device, plan, frame, std::exchange(first, {}), scratch);
  }
  for (size_t s = 0; s < layout.segments.size(); ++s) {
    const Segment& segment = layout.segments[s];
    if (segment.is_commands) {
      if (options.stats) options.stats->kernels += frame.launches[s];
      if (options.validate) {
        run_validated(plan, layout, frame, s, symbols);
      } else if (options.times) {
        run_timed(plan, layout, frame, s, symbols, *options.times);
      } else {
        if (!first.empty())
          first.insert(first.end(), frame.commands[s].begin(), frame.commands[s].end());
        submit(plan.device(segment.device), plan, frame, first.empty() ? frame.commands[s] : first,
               scratch);
        first.clear();
      }
      continue;
    }
    const auto step = static_cast<size_t>(segment.first);
    const auto& call = plan.schedule().steps[step].call;
    if (const auto* copy = std::get_if<CopyCall>(&call)) {
      const auto destination = static_cast<size_t>(copy->destination);
      Location from = frame.where[static_cast<size_t>(copy->source)];
      from.offset += copy_offset(plan.schedule(), *copy, symbols);
      copy_bytes(from, frame.where[destination],
                 static_cast<uint64_t>(layout.memory.bytes[destination]), frame);
    } else if (std::holds_alternative<IfCall>(call)) {
      run_if(plan, layout, frame, step, symbols, options);
    } else {
      run_loop(plan, layout, frame, step, symbols, options);
    }
  }
}

std::vector<BufferRef> run_plan(const SchedulePlan& plan, const std::vector<BufferRef>& inputs,
                                const SymbolValues& symbols, const RunOptions& options) {
  for (const BufferRef& input : inputs) input->require_written();
  const std::shared_ptr<Layout> layout = plan.run_state().layout(symbols);
  FrameHold hold{*layout, layout->acquire(plan)};
  Frame& frame = *hold.frame;
  const Schedule& schedule = plan.schedule();
  const auto place = [&](int b, Buffer* buffer) {
    frame.where[static_cast<size_t>(b)] = {buffer, 0};
    use(frame, buffer);
  };
  std::ranges::fill(frame.where, Location{});
  for (size_t i = 0; i < inputs.size(); ++i) place(schedule.inputs[i], inputs[i].get());
  std::vector<BufferRef> outputs;
  std::vector<Buffer*> written;
  outputs.reserve(schedule.outputs.size());
  written.reserve(schedule.outputs.size());
  for (size_t o = 0; o < schedule.outputs.size(); ++o) {
    const int b = schedule.outputs[o];
    const auto input = std::ranges::find(schedule.inputs, b);
    const auto same = std::find(schedule.outputs.begin(),
                                schedule.outputs.begin() + static_cast<std::ptrdiff_t>(o), b);
    if (input != schedule.inputs.end()) {
      outputs.push_back(inputs[static_cast<size_t>(input - schedule.inputs.begin())]);
    } else if (same - schedule.outputs.begin() < static_cast<std::ptrdiff_t>(o)) {
      outputs.push_back(outputs[static_cast<size_t>(same - schedule.outputs.begin())]);
    } else {
      const ScheduledBuffer& buffer = schedule.buffers[static_cast<size_t>(b)];
      outputs.push_back(
          plan.device(buffer.device)
              .allocate(static_cast<uint64_t>(layout->memory.bytes[static_cast<size_t>(b)]),
                        buffer.name.empty() ? "outputs" : buffer.name));
      place(b, outputs.back().get());
      written.push_back(outputs.back().get());
    }
  }
  allocate_temporaries(plan, *layout, frame);
  // All memory is allocated. From here on donated inputs are spent, even if the run fails.
  std::vector<BufferRef> taken;
  for (const int i : plan.inputs_written()) {
    const BufferRef& given = inputs[static_cast<size_t>(i)];
    const int b = schedule.inputs[static_cast<size_t>(i)];
    std::erase(frame.used, given.get());
    taken.push_back(given->take());
    place(b, taken.back().get());
    written.push_back(taken.back().get());
    for (size_t o = 0; o < outputs.size(); ++o)
      if (schedule.outputs[o] == b) outputs[o] = taken.back();
  }
  if (options.stats) {
    for (const int64_t bytes : layout->memory.arena_bytes) options.stats->arena_bytes += bytes;
    options.stats->sum_bytes += layout->memory.sum_bytes;
  }
  execute(plan, *layout, frame, symbols,
          {.validate = options.validate, .stats = options.stats, .times = options.times},
          options.fills);
  for (Buffer* buffer : written) buffer->set_written();
  return outputs;
}

}  // namespace tenon
