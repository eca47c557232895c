// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A copy of a submission: handles resolved, every range checked before anything runs.
#include <fmt/format.h>

#include "plugins/cpu/memory.hpp"
#include "plugins/cpu/queue.hpp"

namespace tenon::cpu {
namespace {

[[noreturn]] void invalid(const std::string& why) {
  throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "submit: " + why);
}

std::byte* range(tn_memory* handle, uint64_t offset, uint64_t size, const char* what) {
  if (!handle) {
    if (size == 0) return nullptr;
    invalid(fmt::format("{}: expected memory, got null", what));
  }
  const auto& memory = *static_cast<CpuMemory*>(sdk::memory_of(handle));
  if (offset > memory.size() || size > memory.size() - offset)
    invalid(fmt::format("{}: expected a range inside {} bytes, got {} bytes from {}", what,
                        memory.size(), size, offset));
  return memory.data() + offset;
}

uint64_t read_argument(const tn_argument& argument, const tn_param& param, uint32_t number) {
  const bool is_buffer = param.kind == TN_PARAM_BUFFER;
  const uint32_t expected = is_buffer ? TN_ARGUMENT_BUFFER : TN_ARGUMENT_SCALAR;
  if (argument.kind != expected)
    invalid(fmt::format("argument {}: expected kind {}, got {}", number, expected, argument.kind));
  if (!is_buffer) return argument.scalar;
  const uint64_t needed = param.count * sdk::dtype_bytes(static_cast<uint8_t>(param.dtype));
  if (argument.size < needed)
    invalid(fmt::format("argument {}: expected at least {} bytes, got {}", number, needed,
                        argument.size));
  std::byte* data = range(argument.memory, argument.offset, argument.size, "argument");
  const auto address = reinterpret_cast<uintptr_t>(data);
  if (param.alignment > 1 && address % param.alignment != 0)
    invalid(fmt::format("argument {}: expected an address aligned to {}, got {:#x}", number,
                        param.alignment, address));
  return address;
}

Work read_launch(const tn_command& command, Batch& batch) {
  Work work;
  const auto& executable = *static_cast<CpuExecutable*>(sdk::executable_of(command.executable));
  work.executable = &executable;
  if (!executable.entry())
    invalid("launch: expected an executable compiled for a device, got one for a named target");
  const auto params = executable.arguments();
  if (command.argument_count != params.size())
    invalid(fmt::format("launch: expected {} arguments, got {}", params.size(),
                        command.argument_count));
  for (int axis = 0; axis < 3; ++axis) {
    work.grid[axis] = command.grid[axis];
    if (command.block[axis] != 1)
      invalid(fmt::format("launch: expected a block of 1, got {}", command.block[axis]));
  }
  if (command.dynamic_shared_bytes)
    invalid(fmt::format("launch: expected no dynamic shared bytes, got {}",
                        command.dynamic_shared_bytes));
  work.first_argument = batch.arguments.size();
  for (uint32_t i = 0; i < command.argument_count; ++i)
    batch.arguments.push_back(read_argument(sdk::Submission::argument(command, i), params[i], i));
  return work;
}

Work read_work(const tn_command& command, Batch& batch) {
  if (command.kind == TN_COMMAND_LAUNCH) return read_launch(command, batch);
  Work work;
  work.kind = static_cast<tn_command_kind>(command.kind);
  work.size = command.size;
  work.to = range(command.destination, command.destination_offset, command.size, "destination");
  if (command.kind == TN_COMMAND_COPY) {
    work.from = range(command.source, command.source_offset, command.size, "source");
  } else {
    work.pattern = command.pattern;
    work.pattern_size = command.pattern_size;
  }
  return work;
}

Batch::Point read_point(const tn_point& point) {
  return {static_cast<sdk::HostTimeline*>(sdk::timeline_of(point.timeline)), point.value};
}

}  // namespace

Batch read_batch(const sdk::Submission& submission) {
  if (submission.queue() != 0) invalid(fmt::format("expected queue 0, got {}", submission.queue()));
  Batch batch;
  batch.work.reserve(submission.command_count());
  for (uint32_t i = 0; i < submission.command_count(); ++i)
    batch.work.push_back(read_work(submission.command(i), batch));
  for (uint32_t i = 0; i < submission.wait_count(); ++i)
    batch.waits.push_back(read_point(submission.wait(i)));
  for (uint32_t i = 0; i < submission.signal_count(); ++i)
    batch.signals.push_back(read_point(submission.signal(i)));
  return batch;
}

}  // namespace tenon::cpu
