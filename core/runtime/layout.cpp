// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/layout.hpp"

#include <algorithm>
#include <limits>

#include "core/plugin/abi_struct.hpp"
#include "core/runtime/parallel_for.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr size_t kFramesKept = 4;

std::vector<Segment> cut_segments(const SchedulePlan& plan) {
  std::vector<Segment> segments;
  const auto& steps = plan.schedule().steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool command = plan.steps()[i].is_command;
    const int device = steps[i].device;
    if (!segments.empty() && command && segments.back().is_commands &&
        segments.back().device == device) {
      ++segments.back().count;
    } else {
      segments.push_back({static_cast<int>(i), 1, device, command});
    }
  }
  return segments;
}

uint32_t grid_size(const Expr& expr, const SymbolValues& symbols) {
  const int64_t size = expr.evaluate(symbols);
  if (size < 0 || size > std::numeric_limits<uint32_t>::max())
    fail(ErrorKind::kUnsupported, "[launch] expected a grid below 2^32, got {}", size);
  return static_cast<uint32_t>(size);
}

/// Zero-extended, as the ABI wants it.
uint64_t scalar_bits(const ArgumentPlan& argument, const SymbolValues& symbols) {
  const auto bits = static_cast<uint64_t>(argument.value.evaluate(symbols));
  return argument.bytes >= 8 ? bits : bits & ((uint64_t{1} << 8 * argument.bytes) - 1);
}

/// Checks the size of one buffer, in bytes. The limit holds for one binding: temporaries that share
/// an arena may take more together.
uint64_t bound_bytes(int64_t bytes, const Device& device) {
  const Capabilities& capabilities = device.capabilities();
  const uint64_t size = whole_words(static_cast<uint64_t>(bytes), capabilities);
  if (capabilities.max_buffer_bytes && size > capabilities.max_buffer_bytes)
    fail(ErrorKind::kUnsupported, "[launch] {}: expected buffers of at most {} bytes, got {}",
         device.id(), capabilities.max_buffer_bytes, size);
  return size;
}

/// Kernels for these sizes. Those of new ranges are compiled now, in parallel.
std::map<size_t, KernelPlan> sized_kernels(const SchedulePlan& plan, const SymbolValues& symbols) {
  std::map<const SizedKernel*, std::vector<size_t>> users;
  for (size_t i = 0; i < plan.steps().size(); ++i)
    if (const auto& sized = plan.steps()[i].sized) users[sized->kernel.get()].push_back(i);
  std::vector<std::vector<size_t>> groups;
  for (auto& [kernel, steps] : users) groups.push_back(std::move(steps));
  std::vector<KernelPlan> made(plan.steps().size());
  parallel_for(groups.size(), [&](size_t g) {
    for (const size_t i : groups[g]) {
      const auto& [kernel, names] = *plan.steps()[i].sized;
      SymbolValues values;
      for (const auto& [name, value] : names.symbols) values.emplace(name, value.evaluate(symbols));
      made[i] = kernel_plan(kernel->get(values), names,
                            std::get<KernelCall>(plan.schedule().steps[i].call));
    }
  });
  std::map<size_t, KernelPlan> out;
  for (const std::vector<size_t>& steps : groups)
    for (const size_t i : steps) out.emplace(i, std::move(made[i]));
  return out;
}

}  // namespace

uint64_t whole_words(uint64_t bytes, const Capabilities& capabilities) {
  const auto word = static_cast<uint64_t>(capabilities.storage_bytes);
  return (bytes + word - 1) / word * word;
}

uint64_t copy_offset(const Schedule& schedule, const CopyCall& copy, const SymbolValues& symbols) {
  const DType dtype = schedule.buffers[static_cast<size_t>(copy.source)].dtype;
  return static_cast<uint64_t>(copy.offset.evaluate(symbols)) * dtype_size(dtype);
}

std::shared_ptr<Layout> make_layout(const SchedulePlan& plan, const SymbolValues& symbols,
                                    int64_t alignment) {
  auto layout = std::make_shared<Layout>();
  layout->symbols = symbols;
  layout->memory = plan_memory(plan.schedule(), symbols, alignment);
  layout->segments = cut_segments(plan);
  layout->sized = sized_kernels(plan, symbols);
  return layout;
}

std::unique_ptr<Frame> Layout::acquire(const SchedulePlan& plan) {
  {
    const std::lock_guard lock(mutex_);
    if (!frames_.empty()) {
      auto frame = std::move(frames_.back());
      frames_.pop_back();
      return frame;
    }
  }
  return make_frame(plan);
}

void Layout::release(std::unique_ptr<Frame> frame) {
  frame->owned.clear();
  frame->used.clear();
  frame->device_copies.clear();  // each keeps its source alive
  const std::lock_guard lock(mutex_);
  if (frames_.size() < kFramesKept) frames_.push_back(std::move(frame));
}

std::unique_ptr<Frame> Layout::make_frame(const SchedulePlan& plan) const {
  auto frame = std::make_unique<Frame>();
  frame->where.resize(plan.schedule().buffers.size());
  frame->commands.resize(segments.size());
  frame->launches.resize(segments.size());
  frame->command_of.assign(plan.steps().size(), -1);
  for (size_t s = 0; s < segments.size(); ++s) {
    if (!segments[s].is_commands) continue;
    std::vector<tn_command>& commands = frame->commands[s];
    for (int i = segments[s].first; i < segments[s].first + segments[s].count; ++i) {
      const Step& step = plan.schedule().steps[static_cast<size_t>(i)];
      tn_command command = abi_struct<tn_command>();
      if (const auto* copy = std::get_if<CopyCall>(&step.call)) {
        command.kind = TN_COMMAND_COPY;
        command.size = static_cast<uint64_t>(memory.bytes[static_cast<size_t>(copy->destination)]);
        if (command.size == 0) continue;
        frame->command_of[static_cast<size_t>(i)] = static_cast<int>(commands.size());
        frame->copies.push_back({s, commands.size(), copy->source, copy->destination,
                                 copy_offset(plan.schedule(), *copy, symbols)});
        commands.push_back(command);
        continue;
      }
      const KernelPlan& kernel = this->kernel(plan, static_cast<size_t>(i));
      for (const IndexBound& bound : kernel.index_bounds) bound.check(symbols);
      if (kernel.loop_bound) kernel.loop_bound->check(symbols);
      command.kind = TN_COMMAND_LAUNCH;
      command.executable = kernel.executable->handle;
      bool empty = false;
      for (size_t axis = 0; axis < 3; ++axis) {
        command.grid[axis] = grid_size(kernel.grid[axis], symbols);
        command.block[axis] = kernel.block[axis];
        command.cluster[axis] = 1;
        empty |= command.grid[axis] == 0;
      }
      if (empty) continue;
      frame->command_of[static_cast<size_t>(i)] = static_cast<int>(commands.size());
      command.argument_stride = sizeof(tn_argument);
      command.argument_count = static_cast<uint32_t>(kernel.arguments.size());
      // The argument vector still grows, so this holds the index until the pointer is known.
      command.pattern = frame->arguments.size();
      for (const ArgumentPlan& plan_argument : kernel.arguments) {
        tn_argument argument{};
        if (plan_argument.buffer < 0) {
          argument.kind = TN_ARGUMENT_SCALAR;
          argument.scalar = scalar_bits(plan_argument, symbols);
        } else {
          argument.kind = TN_ARGUMENT_BUFFER;
          argument.size = bound_bytes(memory.bytes[static_cast<size_t>(plan_argument.buffer)],
                                      plan.device(step.device));
          frame->patches.push_back({frame->arguments.size(), plan_argument.buffer});
        }
        frame->arguments.push_back(argument);
      }
      commands.push_back(command);
      ++frame->launches[s];
    }
  }
  for (std::vector<tn_command>& commands : frame->commands) {
    for (tn_command& command : commands) {
      if (command.kind != TN_COMMAND_LAUNCH) continue;
      command.arguments = frame->arguments.data() + command.pattern;
      command.pattern = 0;
    }
  }
  return frame;
}

void Frame::bind() {
  for (const Patch& patch : patches) {
    const Location& at = where[static_cast<size_t>(patch.buffer)];
    tn_argument& argument = arguments[patch.argument];
    argument.memory = argument.size ? at.buffer->memory() : nullptr;
    argument.offset = argument.size ? at.buffer->offset() + at.offset : 0;
  }
  for (const CopyPatch& patch : copies) {
    const Location& from = where[static_cast<size_t>(patch.source)];
    const Location& to = where[static_cast<size_t>(patch.destination)];
    tn_command& command = commands[patch.segment][patch.command];
    command.source = from.buffer->memory();
    command.source_offset = from.buffer->offset() + from.offset + patch.offset;
    command.destination = to.buffer->memory();
    command.destination_offset = to.buffer->offset() + to.offset;
  }
}

}  // namespace tenon
