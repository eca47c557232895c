// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks, barriers, and fills of any pattern.
#include "sdk/shader/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace tenon::sdk {
namespace {

Range checked(tn_memory* memory, uint64_t offset, uint64_t size, const char* what) {
  check_range(memory, offset, size, what);
  return {memory_of(memory), offset, size};
}

void check_grid(const uint32_t (&grid)[3], const tn_properties& limits) {
  for (int axis = 0; axis < 3; ++axis) {
    const uint32_t most = limits.max_grid[axis];
    if (most && grid[axis] > most)
      refuse(
          fmt::format("launch: expected grid[{}] of at most {}, got {}", axis, most, grid[axis]));
  }
}

Range checked_binding(const tn_argument& from, const tn_properties& limits) {
  if (from.size == 0) return {};
  const uint32_t alignment = limits.memory_spaces[0].alignment;
  const uint64_t most = limits.max_buffer_bytes ? limits.max_buffer_bytes : UINT64_MAX;
  if (from.offset % alignment || from.size > most)
    refuse(fmt::format("launch: expected buffers aligned to {} of at most {} bytes, got {} at {}",
                       alignment, most, from.size, from.offset));
  return {memory_of(from.memory), from.offset, from.size};
}

}  // namespace

void Recorder::record(const Submission& submission) {
  hazards_.clear();
  uint32_t launches = 0, buffers = 0;
  for (uint32_t i = 0; i < submission.command_count(); ++i) {
    const tn_command command = submission.command(i);
    if (command.kind != TN_COMMAND_LAUNCH) continue;
    ++launches;
    buffers += command.argument_count;
  }
  begin(launches, buffers);
  for (uint32_t i = 0; i < submission.command_count(); ++i) {
    const tn_command c = submission.command(i);
    if (c.kind == TN_COMMAND_LAUNCH) {
      launch(c);
      continue;
    }
    const Range to = checked(c.destination, c.destination_offset, c.size, "a destination");
    if (c.kind == TN_COMMAND_FILL) {
      fill(to, repeat_pattern(c.pattern, c.pattern_size));
    } else {
      const Range from = checked(c.source, c.source_offset, c.size, "a source");
      if (c.size) copy_in_order(to, from);
    }
  }
  end();
}

void Recorder::launch(const tn_command& command) {
  const auto& executable = static_cast<const ShaderExecutable&>(*executable_of(command.executable));
  if (executable.device() != &device_)
    refuse("launch: expected an executable compiled for this device");
  check_launch(command, executable.signature());
  const tn_properties& limits = device_.properties();
  check_grid(command.grid, limits);
  const ShaderBindings::Bound bound = executable.bindings().bind(command);
  std::vector<Range> buffers;
  std::vector<Hazards::Access> accesses;
  for (const auto& [argument, is_written] : bound.buffers) {
    const Range& range = buffers.emplace_back(checked_binding(*argument, limits));
    if (range.size) accesses.push_back({range.memory, range.offset, range.size, is_written});
  }
  if (!command.grid[0] || !command.grid[1] || !command.grid[2]) return;
  touch(accesses);
  dispatch({executable, buffers, bound.scalars, command.grid});
}

/// Fills bytes up to a word, words, and the bytes after them. A pattern of eight bytes is written
/// once and copied in doubling ranges.
void Recorder::fill(const Range& to, uint64_t pattern) {
  const auto word = static_cast<uint32_t>(pattern);
  if (pattern >> 32 == word) {
    const uint64_t head = std::min(-to.offset % 4, to.size), words = (to.size - head) / 4 * 4;
    const auto shift = static_cast<int>(8 * head);
    write_pattern(to.part(0, head), pattern);
    if (words) {
      const Range middle = to.part(head, words);
      touch(middle, true);
      fill_words(middle, std::rotr(word, shift));
    }
    return write_pattern(to.part(head + words, to.size - head - words), std::rotr(pattern, shift));
  }
  uint64_t done = std::min(to.size, kWriteBytes);
  write_pattern(to.part(0, done), pattern);
  while (done < to.size) {
    const uint64_t piece = std::min(done, to.size - done);
    copy_in_order(to.part(done, piece), to.part(0, piece));
    done += piece;
  }
}

void Recorder::write_pattern(const Range& to, uint64_t pattern) {
  if (to.size == 0) return;
  std::array<uint64_t, kWriteBytes / sizeof pattern> bytes;
  bytes.fill(pattern);
  write(to, reinterpret_cast<const std::byte*>(bytes.data()));
}

void Recorder::copy_in_order(const Range& to, const Range& from) {
  touch(std::array<Hazards::Access, 2>{
      {{from.memory, from.offset, from.size, false}, {to.memory, to.offset, to.size, true}}});
  copy(to, from);
}

void Recorder::touch(const Range& range, bool writes) {
  touch(std::array<Hazards::Access, 1>{{{range.memory, range.offset, range.size, writes}}});
}

void Recorder::touch(std::span<const Hazards::Access> accesses) {
  if (hazards_.need_barrier(accesses)) barrier();
}

}  // namespace tenon::sdk
