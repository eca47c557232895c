// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/stream/commands.hpp"

#include <algorithm>

#include "sdk/stream/executable.hpp"

namespace tenon::sdk {
namespace {

const StreamExecutable& executable_of(const HostCommand& command) {
  return static_cast<const StreamExecutable&>(*command.executable);
}

uint64_t address_of(const std::byte* data) { return reinterpret_cast<uint64_t>(data); }

void launch(const HostCommand& command, std::span<const HostArgument> arguments,
            StreamContext& context, ApiStream* stream) {
  if (!command.grid[0] || !command.grid[1] || !command.grid[2]) return;
  // A launch takes the address of each argument and reads the bytes that the kernel declares. So
  // the address of a little-endian 64-bit value is right for narrower scalars too.
  std::vector<uint64_t> values(arguments.size());
  std::vector<void*> addresses(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const HostArgument& argument = arguments[i];
    values[i] = argument.data ? address_of(argument.data) : argument.scalar;
    addresses[i] = &values[i];
  }
  const uint32_t(&grid)[3] = command.grid;
  const uint32_t(&block)[3] = command.executable->signature().workgroup;
  context.check(context.api().launch(executable_of(command).function(context), grid[0], grid[1],
                                     grid[2], block[0], block[1], block[2],
                                     executable_of(command).dynamic_shared_bytes(), stream,
                                     addresses.data(), nullptr),
                "launch");
}

void copy(const HostCommand& command, StreamContext& context, ApiStream* stream) {
  if (command.size == 0) return;
  context.check(context.vendor().copy(address_of(command.destination), address_of(command.source),
                                      command.size, stream),
                "copy");
}

/// The smallest width of a fill with the same bytes: a pattern of equal halves has half the size.
uint32_t least_width(uint64_t pattern, uint32_t width) {
  while (width > 1) {
    const uint32_t half_bits = width * 4;
    const uint64_t mask = (uint64_t{1} << half_bits) - 1;
    if ((pattern & mask) != (pattern >> half_bits & mask)) break;
    width /= 2;
  }
  return width;
}

/// Writes the pattern once, byte by byte, then copies it in doubling ranges. For 8-byte patterns,
/// which drivers do not support, and addresses that are not aligned to the pattern.
void fill_by_doubling(const HostCommand& command, StreamContext& context, ApiStream* stream) {
  const uint64_t to = address_of(command.destination);
  for (uint32_t i = 0; i < command.pattern_size; ++i) {
    const auto byte = static_cast<unsigned char>(command.pattern >> (8 * i));
    context.check(context.api().fill8(to + i, byte, 1, stream), "fill");
  }
  for (uint64_t done = command.pattern_size; done < command.size;) {
    const uint64_t piece = std::min(done, command.size - done);
    context.check(context.vendor().copy(to + done, to, piece, stream), "fill");
    done += piece;
  }
}

void fill(const HostCommand& command, StreamContext& context, ApiStream* stream) {
  if (command.size == 0) return;
  const StreamApi& api = context.api();
  const uint64_t to = address_of(command.destination);
  const uint32_t width = least_width(command.pattern, command.pattern_size);
  const uint64_t count = command.size / width;
  if (width == 8 || to % width != 0) return fill_by_doubling(command, context, stream);
  int code = 0;
  if (width == 1) code = api.fill8(to, static_cast<unsigned char>(command.pattern), count, stream);
  if (width == 2) {
    code = api.fill16(to, static_cast<unsigned short>(command.pattern), count, stream);
  }
  if (width == 4) code = api.fill32(to, static_cast<unsigned>(command.pattern), count, stream);
  context.check(code, "fill");
}

}  // namespace

void check_launches(const HostWork& work, const StreamContext& context) {
  for (const HostCommand& command : work.commands) {
    if (command.kind == TN_COMMAND_LAUNCH) executable_of(command).function(context);
  }
}

void enqueue_commands(const HostWork& work, StreamContext& context, ApiStream* stream) {
  for (const HostCommand& command : work.commands) {
    switch (command.kind) {
      case TN_COMMAND_LAUNCH:
        launch(command, work.arguments_of(command), context, stream);
        break;
      case TN_COMMAND_COPY:
        copy(command, context, stream);
        break;
      case TN_COMMAND_FILL:
        fill(command, context, stream);
        break;
    }
  }
}

}  // namespace tenon::sdk
