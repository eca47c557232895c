// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/program/command.hpp"

namespace tenon::sdk {

tn_command copy_command(tn_memory* to, uint64_t to_offset, tn_memory* from, uint64_t from_offset,
                        uint64_t size) {
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_COPY;
  command.destination = to;
  command.destination_offset = to_offset;
  command.source = from;
  command.source_offset = from_offset;
  command.size = size;
  return command;
}

tn_command fill_command(tn_memory* to, uint64_t offset, uint64_t size, uint64_t pattern,
                        uint32_t pattern_size) {
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_FILL;
  command.destination = to;
  command.destination_offset = offset;
  command.size = size;
  command.pattern = pattern;
  command.pattern_size = pattern_size;
  return command;
}

tn_command launch_command(tn_executable* executable, const Extent& grid, const Extent& block,
                          std::span<const tn_argument> arguments) {
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_LAUNCH;
  command.executable = executable;
  const uint32_t grids[] = {grid.x, grid.y, grid.z}, blocks[] = {block.x, block.y, block.z};
  for (int axis = 0; axis < 3; ++axis) {
    command.grid[axis] = grids[axis];
    command.block[axis] = blocks[axis];
    command.cluster[axis] = 1;
  }
  command.argument_count = static_cast<uint32_t>(arguments.size());
  command.argument_stride = sizeof(tn_argument);
  command.arguments = arguments.data();
  return command;
}

tn_argument buffer_argument(tn_memory* memory, uint64_t offset, uint64_t size) {
  tn_argument argument{};
  argument.kind = TN_ARGUMENT_BUFFER;
  argument.memory = memory;
  argument.offset = offset;
  argument.size = size;
  return argument;
}

tn_argument scalar_argument(uint64_t bits) {
  tn_argument argument{};
  argument.kind = TN_ARGUMENT_SCALAR;
  argument.scalar = bits;
  return argument;
}

tn_submission submission_of(std::span<const tn_command> commands, std::span<const tn_point> waits,
                            std::span<const tn_point> signals) {
  tn_submission submission = TN_INIT(tn_submission);
  submission.command_count = static_cast<uint32_t>(commands.size());
  submission.command_stride = sizeof(tn_command);
  submission.commands = commands.empty() ? nullptr : commands.data();
  submission.wait_count = static_cast<uint32_t>(waits.size());
  submission.waits = waits.empty() ? nullptr : waits.data();
  submission.signal_count = static_cast<uint32_t>(signals.size());
  submission.signals = signals.empty() ? nullptr : signals.data();
  return submission;
}

}  // namespace tenon::sdk
