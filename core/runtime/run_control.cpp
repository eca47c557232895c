// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs IF and LOOP: the host reads the condition, the state stays on the device.
#include <algorithm>
#include <utility>

#include "core/plugin/abi_struct.hpp"
#include "core/runtime/run_plan.hpp"
#include "core/runtime/run_state.hpp"

namespace tenon {
namespace {

template <class T>
T read_value(const Location& at) {
  T value{};
  at.buffer->device().read(*at.buffer, at.offset, &value, sizeof value);
  return value;
}

/// Queues a fill, so the host need not wait for kernels that still read the old value.
void fill_value(const Location& at, int64_t value) {
  Buffer* const used[] = {at.buffer};
  at.buffer->device().submit({fill_command(at, static_cast<uint64_t>(value), sizeof value)},
                             std::span<Buffer* const>(used));
}

std::vector<Location> locations(const Frame& frame, const std::vector<int>& buffers) {
  std::vector<Location> result;
  for (const int b : buffers) result.push_back(frame.where[static_cast<size_t>(b)]);
  return result;
}

}  // namespace

tn_command fill_command(const Location& at, uint64_t value, uint32_t bytes) {
  tn_command command = abi_struct<tn_command>();
  command.kind = TN_COMMAND_FILL;
  command.destination = at.buffer->memory();
  command.destination_offset = at.buffer->offset() + at.offset;
  command.size = bytes;
  command.pattern = value;
  command.pattern_size = bytes;
  return command;
}

RegionRun::RegionRun(const SchedulePlan& plan, const SymbolValues& symbols,
                     const RunOptions& options)
    : plan_(plan), symbols_(symbols), options_(options), layout_(plan.run_state().layout(symbols)) {
  frame_ = layout_->acquire(plan);
  std::ranges::fill(frame_->where, Location{});
  allocate_temporaries(plan, *layout_, *frame_);
}

RegionRun::~RegionRun() { layout_->release(std::move(frame_)); }

uint64_t RegionRun::output_bytes(size_t i) const {
  return static_cast<uint64_t>(
      layout_->memory.bytes[static_cast<size_t>(plan_.schedule().outputs[i])]);
}

void RegionRun::run(const std::vector<Location>& inputs, const std::vector<Location>& outputs) {
  const Schedule& schedule = plan_.schedule();
  frame_->used.clear();
  const auto bind = [&](int b, const Location& at) {
    frame_->where[static_cast<size_t>(b)] = at;
    frame_->used.push_back(at.buffer);
  };
  for (const BufferRef& buffer : frame_->owned) frame_->used.push_back(buffer.get());
  for (size_t i = 0; i < inputs.size(); ++i) bind(schedule.inputs[i], inputs[i]);
  std::vector<size_t> copies;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const int b = schedule.outputs[o];
    const auto end = schedule.outputs.begin() + static_cast<std::ptrdiff_t>(o);
    const bool has_place = std::ranges::find(schedule.inputs, b) != schedule.inputs.end() ||
                           std::find(schedule.outputs.begin(), end, b) != end;
    if (has_place) {
      copies.push_back(o);
    } else {
      bind(b, outputs[o]);
    }
  }
  execute(plan_, *layout_, *frame_, symbols_, options_);
  for (const size_t o : copies)
    copy_bytes(frame_->where[static_cast<size_t>(schedule.outputs[o])], outputs[o], output_bytes(o),
               *frame_);
  wait_for_device_copies(*frame_);  // the next run overwrites their sources
}

void run_if(const SchedulePlan& plan, const Layout&, Frame& frame, size_t step,
            const SymbolValues& symbols, const RunOptions& options) {
  const IfCall& call = std::get<IfCall>(plan.schedule().steps[step].call);
  const StepPlan& plans = plan.steps()[step];
  const bool yes = read_value<uint8_t>(frame.where[static_cast<size_t>(call.condition)]) != 0;
  RegionRun region(yes ? *plans.then_plan : *plans.else_plan, symbols, options);
  region.run(locations(frame, call.captured), locations(frame, call.outputs));
}

void run_loop(const SchedulePlan& plan, const Layout& layout, Frame& frame, size_t step,
              const SymbolValues& symbols, const RunOptions& options) {
  const LoopCall& call = std::get<LoopCall>(plan.schedule().steps[step].call);
  Device& device = plan.device(plan.schedule().steps[step].device);
  const size_t carried = call.initial.size();
  const int64_t trips = read_value<int64_t>(frame.where[static_cast<size_t>(call.trips)]);
  const std::vector<Location> initial = locations(frame, call.initial);
  const std::vector<Location> captured = locations(frame, call.captured);
  const std::vector<Location> result = locations(frame, call.outputs);
  const auto bytes = [&](size_t k) {
    return static_cast<uint64_t>(layout.memory.bytes[static_cast<size_t>(call.outputs[k])]);
  };
  const auto copy_result = [&](const std::vector<Location>& from) {
    for (size_t k = 0; k < carried; ++k) copy_bytes(from[k], result[k], bytes(k), frame);
  };
  if (trips <= 0) return copy_result(initial);

  // Double buffering: iterations alternate between two sets of buffers, one of which is the result.
  // Values that the body overwrites in place are in the result set.
  const SchedulePlan& body = *plan.steps()[step].body;
  std::vector<BufferRef> owned;
  std::vector<Location> current = initial, other = result;
  bool to_result = call.is_while || trips % 2 == 1;  // the last trip writes the result
  const auto written = [&](size_t input) {
    return std::ranges::find(body.inputs_written(), static_cast<int>(input)) !=
           body.inputs_written().end();
  };
  for (size_t k = 0; k < carried; ++k) {
    const Schedule& inner = body.schedule();
    if (inner.outputs[k] == inner.inputs[k + 1] && !call.is_while) {
      copy_bytes(initial[k], result[k], bytes(k), frame);
      current[k] = result[k];
    } else {
      owned.push_back(device.allocate(bytes(k), "loop state"));
      other[k] = {owned.back().get(), 0};
      if (!written(k + 1)) continue;  // the body must not overwrite the initial value
      current[k] = to_result ? other[k] : result[k];
      copy_bytes(initial[k], current[k], bytes(k), frame);
    }
  }
  owned.push_back(device.allocate(sizeof(int64_t), "loop counter"));
  const Location counter{owned.back().get(), 0};
  owned.push_back(device.allocate(1, "loop condition"));
  const Location condition{owned.back().get(), 0};

  RegionRun region(body, symbols, options);
  for (int64_t i = 0; i < trips; ++i, to_result = !to_result) {
    fill_value(counter, i);
    std::vector<Location> inputs{counter};
    inputs.insert(inputs.end(), current.begin(), current.end());
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    const std::vector<Location>& next = to_result ? result : other;
    std::vector<Location> outputs;
    if (call.is_while) outputs.push_back(condition);
    outputs.insert(outputs.end(), next.begin(), next.end());
    region.run(inputs, outputs);
    if (call.is_while && read_value<uint8_t>(condition) == 0) break;
    current = next;
  }
  copy_result(current);
}

}  // namespace tenon
