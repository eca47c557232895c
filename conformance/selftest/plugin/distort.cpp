// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/selftest/plugin/distort.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "conformance/selftest/plugin/slabs.hpp"

namespace tenon::planted {
namespace {

constexpr uint64_t kMostPatterns = 1 << 20;
constexpr uint32_t kRing = 4096, kMostArguments = 24, kMostScalars = 16;

const PlantedExecutable& executable_of(const sdk::HostCommand& command) {
  return static_cast<const PlantedExecutable&>(*command.executable);
}

std::span<sdk::HostArgument> arguments_of(sdk::HostWork& work, const sdk::HostCommand& command) {
  return std::span(work.arguments).subspan(command.first_argument, command.argument_count);
}

bool is_same(std::span<const sdk::HostArgument> a, std::span<const sdk::HostArgument> b,
             bool with_scalars) {
  return std::ranges::equal(a, b, [&](const auto& x, const auto& y) {
    return x.data == y.data && x.size == y.size && (!with_scalars || x.scalar == y.scalar);
  });
}

void cut_numbers(Variant variant, const tn_command& from, sdk::HostCommand& to) {
  if (variant == Variant::copy_words && from.kind == TN_COMMAND_COPY &&
      from.source == from.destination)
    to.size = (to.size + 7) / 8 * 8;
  if (variant == Variant::pattern_kept && from.kind == TN_COMMAND_FILL && to.pattern_size == 8) {
    static std::mutex mutex;
    static std::map<uint32_t, uint64_t> known;
    const std::lock_guard lock(mutex);
    to.pattern = known.try_emplace(static_cast<uint32_t>(to.pattern), to.pattern).first->second;
  }
  if (variant == Variant::fill_past_2_20 && from.kind == TN_COMMAND_FILL)
    to.size = std::min(to.size, kMostPatterns * to.pattern_size);
  if (variant == Variant::copy_length_24 && from.kind == TN_COMMAND_COPY)
    to.size &= (uint64_t{1} << 24) - 1;
  if (variant == Variant::copy_offset_20 && from.kind == TN_COMMAND_COPY && to.source)
    to.source -= from.source_offset & ~((uint64_t{1} << 20) - 1);
  if (variant == Variant::fill_offset_32 && from.kind == TN_COMMAND_FILL && to.destination)
    to.destination -= from.destination_offset & ~uint64_t{UINT32_MAX};
}

/// The first arguments, or the last ones a ring's length on.
void share_arguments(Variant variant, sdk::HostWork& work) {
  std::map<const void*, std::vector<sdk::HostArgument>> first;
  std::vector<sdk::HostCommand*> launches;
  for (sdk::HostCommand& command : work.commands)
    if (command.kind == TN_COMMAND_LAUNCH) launches.push_back(&command);
  for (size_t i = launches.size(); variant == Variant::argument_ring && i-- > kRing;)
    if (launches[i - kRing]->executable == launches[i]->executable)
      launches[i - kRing]->first_argument = launches[i]->first_argument;
  for (const sdk::HostCommand* launch : launches) {
    const auto own = arguments_of(work, *launch);
    const auto& cached =
        first.try_emplace(launch->executable, std::vector(own.begin(), own.end())).first->second;
    if (variant == Variant::scalars_of_first) {
      for (size_t k = 0; k < own.size(); ++k)
        if (!own[k].data && launches.size() > kMostScalars) own[k].scalar = cached[k].scalar;
    }
    if (variant == Variant::arguments_cached) std::ranges::copy(cached, own.begin());
    for (size_t k = kMostArguments; variant == Variant::arguments_24 && k < own.size(); ++k)
      if (!own[k].data) own[k].scalar = 0;
    if (variant == Variant::arguments_latest) {
      LaunchState& state = executable_of(*launch).state();
      const std::lock_guard lock(state.mutex);
      state.arguments.assign(own.begin(), own.end());
    }
  }
}

/// The address of a slab that is known is not looked for again.
void keep_offsets(const tn_command& from, sdk::HostWork& work, const sdk::HostCommand& command) {
  if (from.kind != TN_COMMAND_LAUNCH) return;
  LaunchState& state = executable_of(command).state();
  state.slabs.resize(from.argument_count);
  for (uint32_t k = 0; k < from.argument_count; ++k) {
    const tn_memory* slab = sdk::Submission::argument(from, k).memory;
    std::byte*& data = arguments_of(work, command)[k].data;
    if (slab && slab == state.slabs[k].first) data = state.slabs[k].second;
    state.slabs[k] = {slab, data};
  }
}

/// Offsets of bindings are kept in 32 bits.
void cut_bindings(const tn_command& from, sdk::HostWork& work, const sdk::HostCommand& command) {
  if (from.kind != TN_COMMAND_LAUNCH) return;
  for (uint32_t k = 0; k < from.argument_count; ++k) {
    const uint64_t lost = sdk::Submission::argument(from, k).offset & ~uint64_t{UINT32_MAX};
    std::byte*& data = arguments_of(work, command)[k].data;
    if (data) data -= lost;
  }
}

/// Buffers that a program only reads begin at a multiple of the alignment.
void round_reads(sdk::HostWork& work, const sdk::HostCommand& command) {
  if (command.kind != TN_COMMAND_LAUNCH) return;
  const auto arguments = arguments_of(work, command);
  const sdk::ProgramView program = executable_of(command).code()->view();
  for (uint32_t i = 0, argument = 0; i < program.param_count(); ++i) {
    const tn_param& param = program.param(i);
    if (param.kind == TN_PARAM_ALLOC) continue;
    std::byte*& data = arguments[argument++].data;
    if (param.kind == TN_PARAM_BUFFER && !(param.access & TN_ACCESS_WRITE) && data)
      data -= reinterpret_cast<uintptr_t>(data) % kAlignment;
  }
}

/// Buffers behind one without memory move up.
void drop_null(sdk::HostWork& work, const sdk::HostCommand& command) {
  if (command.kind != TN_COMMAND_LAUNCH) return;
  const auto arguments = arguments_of(work, command);
  const sdk::ProgramView program = executable_of(command).code()->view();
  std::vector<sdk::HostArgument*> buffers;
  for (uint32_t i = 0, argument = 0; i < program.param_count(); ++i) {
    if (program.param(i).kind == TN_PARAM_ALLOC) continue;
    if (program.param(i).kind == TN_PARAM_BUFFER) buffers.push_back(&arguments[argument]);
    ++argument;
  }
  for (size_t k = 0; k + 1 < buffers.size(); ++k)
    if (!buffers[k]->data) std::swap(*buffers[k], *buffers[k + 1]);
}

void cut_points(Variant variant, Job& job) {
  if (variant == Variant::first_wait && job.waits.size() > 1) job.waits.resize(1);
  if (variant == Variant::first_signal)
    for (auto& [timeline, value] : job.signals) value = job.signals[0].second;
}

bool overlap(const sdk::HostWork& work, const sdk::HostCommand& a, const sdk::HostCommand& b) {
  const auto overlap = [](const std::byte* x, uint64_t x_size, const std::byte* y,
                          uint64_t y_size) { return x && y && x < y + y_size && y < x + x_size; };
  const auto ranges = [&](const sdk::HostCommand& c) {
    std::vector<std::pair<const std::byte*, uint64_t>> out;
    if (c.kind != TN_COMMAND_LAUNCH) {
      out = {{c.destination, c.size}, {c.source, c.size}};
    } else {
      for (const sdk::HostArgument& argument : work.arguments_of(c))
        out.emplace_back(argument.data, argument.size);
    }
    return out;
  };
  for (const auto& [x, x_size] : ranges(a))
    for (const auto& [y, y_size] : ranges(b))
      if (overlap(x, x_size, y, y_size)) return true;
  return false;
}

/// Pairs that touch nothing in common change places.
void reorder(sdk::HostWork& work) {
  for (size_t i = 0; i + 1 < work.commands.size(); i += 2)
    if (!overlap(work, work.commands[i], work.commands[i + 1]))
      std::swap(work.commands[i], work.commands[i + 1]);
}

/// As threads have it that read their submissions into one static list.
void share_list(sdk::HostWork& work) {
  static std::mutex mutex;
  static sdk::HostWork list;
  {
    const std::lock_guard lock(mutex);
    list = work;
  }
  std::this_thread::sleep_for(std::chrono::microseconds(300));
  const std::lock_guard lock(mutex);
  work = list;
}

}  // namespace

void distort(Variant variant, const sdk::Submission& submission, Job& job) {
  for (uint32_t i = 0; i < submission.command_count(); ++i) {
    const tn_command from = submission.command(i);
    cut_numbers(variant, from, job.work.commands[i]);
    if (variant == Variant::binding_offset_32) cut_bindings(from, job.work, job.work.commands[i]);
    if (variant == Variant::reads_rounded) round_reads(job.work, job.work.commands[i]);
    if (variant == Variant::null_argument) drop_null(job.work, job.work.commands[i]);
    if (variant == Variant::offset_kept) keep_offsets(from, job.work, job.work.commands[i]);
  }
  share_arguments(variant, job.work);
  cut_points(variant, job);
  if (variant == Variant::commands_16 && job.work.commands.size() > UINT16_MAX)
    job.work.commands.resize(job.work.commands.size() & UINT16_MAX);
  if (variant == Variant::one_list) share_list(job.work);
  if (variant == Variant::reorders) reorder(job.work);
}

void LaunchOrder::distort(Variant variant, LaunchState& state, Launch& launch) {
  const std::lock_guard lock(mutex_);
  std::vector<sdk::HostArgument>& cached = state.arguments;
  switch (variant) {
    case Variant::arguments_latest: {
      const std::lock_guard latest(state.mutex);
      launch.arguments = cached;
      return;
    }
    case Variant::grid_kept:
      if (state.grid[0]) std::copy_n(state.grid, 3, launch.grid);
      std::copy_n(launch.grid, 3, state.grid);
      return;
    case Variant::scalars_kept:
      if (is_same(cached, launch.arguments, false)) launch.arguments = cached;
      cached = launch.arguments;
      return;
    case Variant::same_arguments:
      if (last_.code && is_same(last_.arguments, launch.arguments, true)) launch.code = last_.code;
      last_ = launch;
      return;
    default:
      return;
  }
}

}  // namespace tenon::planted
