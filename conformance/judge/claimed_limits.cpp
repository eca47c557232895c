// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/claimed_limits.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "conformance/cases/gradually.hpp"
#include "core/support/error.hpp"
#include "sdk/program/builder.hpp"
#include "sdk/program/command.hpp"

namespace tenon::conformance::judge {
namespace {

/// The case is another's.
constexpr const char* kBeside = "; tried beside the case's own op, which has no part in it";
constexpr tn_dtype kDType = TN_DTYPE_I32;
constexpr uint32_t kMostBindings = 64, kMostThreads = 4096, kMostWorkgroups = 70'000;
constexpr uint32_t kMostLimitBytes = 1 << 20;

/// What is launched, and what the one output must hold.
struct Attempt {
  std::string limit;
  sdk::Program program;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::vector<int32_t> inputs;    ///< each in a buffer of its own
  std::vector<int32_t> expected;  ///< of the output, which is bound last
};

/// 0 is no limit: then as many as are tried at most.
uint32_t up_to(uint32_t limit, uint32_t most) { return limit == 0 ? most : std::min(limit, most); }

std::vector<int32_t> numbers(uint32_t count) {
  std::vector<int32_t> out(count);
  for (uint32_t i = 0; i < count; ++i) out[i] = static_cast<int32_t>(i);
  return out;
}

Attempt use_bindings(std::string limit, uint32_t count) {
  Attempt out;
  out.limit = std::move(limit);
  sdk::ProgramBuilder builder("bindings");
  std::vector<uint32_t> buffers;
  for (uint32_t i = 0; i + 1 < count; ++i)
    buffers.push_back(builder.buffer(fmt::format("x{}", i), kDType, TN_ACCESS_READ, 1));
  const uint32_t to = builder.buffer("out", kDType, TN_ACCESS_WRITE, 1);
  const uint32_t first = builder.constant(kDType, 0);
  uint32_t sum = builder.constant(kDType, 1);
  int32_t expected = 1;
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    sum = builder.op(TN_OP_ADD, kDType, 1,
                     {sum, builder.op(TN_OP_TAKE, kDType, 1, {buffers[i], first})});
    out.inputs.push_back(static_cast<int32_t>(i * i + 3));
    expected += out.inputs.back();
  }
  builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {to, first, sum});
  out.program = builder.finish();
  out.expected = {expected};
  return out;
}

/// Each thread, or workgroup, of one axis writes its number.
Attempt use_axis(std::string limit, tn_axis axis, uint32_t count) {
  Attempt out;
  out.limit = std::move(limit);
  sdk::ProgramBuilder builder("axis");
  const uint32_t to = builder.buffer("out", kDType, TN_ACCESS_WRITE, count);
  const uint32_t i = builder.index(axis, kDType);
  builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {to, i, i});
  const bool is_block = axis >= TN_AXIS_BLOCK_X;
  (is_block ? out.block : out.grid)[is_block ? axis - TN_AXIS_BLOCK_X : axis] = count;
  builder.workgroup(out.block[0], out.block[1], out.block[2]);
  out.program = builder.finish();
  out.expected = numbers(count);
  return out;
}

/// One thread fills a tile and copies it out, backwards. How often it iterates is read from a
/// buffer: a compiler that knew would unroll it, and take minutes for a tile in registers.
Attempt use_memory(std::string limit, tn_space space, uint32_t count) {
  Attempt out;
  out.limit = std::move(limit);
  sdk::ProgramBuilder builder("memory");
  const uint32_t size = builder.buffer("size", kDType, TN_ACCESS_READ, 1);
  const uint32_t to = builder.buffer("out", kDType, TN_ACCESS_WRITE, count);
  const uint32_t tile = builder.allocate("tile", kDType, space, count);
  const uint32_t none = builder.constant(kDType, 0), one = builder.constant(kDType, 1);
  const uint32_t end = builder.op(TN_OP_TAKE, kDType, 1, {size, none});
  const uint32_t last = builder.constant(kDType, count - 1);
  const uint32_t minus = builder.constant(kDType, 0xffffffffu);
  const auto backwards = [&](uint32_t i) {
    const uint32_t less = builder.op(TN_OP_MUL, kDType, 1, {i, minus});
    return builder.op(TN_OP_ADD, kDType, 1, {last, less});
  };
  const uint32_t i = builder.begin_loop(none, end, one);
  builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {tile, backwards(i), i});
  builder.end();
  const uint32_t k = builder.begin_loop(none, end, one);
  builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
             {to, backwards(k), builder.op(TN_OP_TAKE, kDType, 1, {tile, k})});
  builder.end();
  out.program = builder.finish();
  out.inputs = {static_cast<int32_t>(count)};
  out.expected = numbers(count);
  return out;
}

uint32_t axis_of(uint64_t seed) { return static_cast<uint32_t>(seed / 5 % 3); }

/// How many elements the output may have.
uint32_t up_to_a_buffer(const Capabilities& caps, uint32_t count) {
  if (caps.max_buffer_bytes == 0) return count;
  return static_cast<uint32_t>(std::min<uint64_t>(count, caps.max_buffer_bytes / 4));
}

enum class Limit : uint8_t { kBindings, kThreads, kGroups, kShared, kScratch };
Limit limit_of(uint64_t seed) { return static_cast<Limit>(seed % 5); }

/// Counts that are tried, in bindings, threads, workgroups or elements: from a first one, which any
/// device gets through in time, to what is claimed. {0, 0} where nothing is claimed.
std::pair<uint32_t, uint32_t> range_of(const Capabilities& caps, uint64_t seed) {
  constexpr uint32_t kFirstGroups = 256, kFirstElements = 32;
  const uint32_t axis = axis_of(seed);
  const auto memory = [&](uint32_t bytes) {
    return std::pair(kFirstElements, up_to_a_buffer(caps, std::min(bytes, kMostLimitBytes) / 4));
  };
  switch (limit_of(seed)) {
    case Limit::kBindings: {
      const uint32_t most = up_to(caps.max_bindings, kMostBindings);
      return {most, most};
    }
    case Limit::kThreads: {
      const uint32_t most =
          up_to_a_buffer(caps, std::min(up_to(caps.max_workgroup[axis], kMostThreads),
                                        up_to(caps.max_workgroup_threads, kMostThreads)));
      return {most, most};
    }
    case Limit::kGroups:
      return {kFirstGroups, up_to_a_buffer(caps, up_to(caps.max_grid[axis], kMostWorkgroups))};
    case Limit::kShared:
      return memory(caps.max_shared_bytes);
    case Limit::kScratch:
      return memory(caps.max_scratch_bytes);
  }
  return {};
}

Attempt draw_attempt(const Capabilities& caps, uint64_t seed, uint32_t count) {
  const uint32_t axis = axis_of(seed);
  const char name = "xyz"[axis];
  switch (limit_of(seed)) {
    case Limit::kBindings:
      return use_bindings(fmt::format("max_bindings {}", caps.max_bindings), count);
    case Limit::kThreads:
      return use_axis(fmt::format("max_workgroup.{} {} of {} threads", name,
                                  caps.max_workgroup[axis], caps.max_workgroup_threads),
                      static_cast<tn_axis>(TN_AXIS_BLOCK_X + axis), count);
    case Limit::kGroups:
      return use_axis(fmt::format("max_grid.{} {}", name, caps.max_grid[axis]),
                      static_cast<tn_axis>(TN_AXIS_GRID_X + axis), count);
    case Limit::kShared:
      return use_memory(fmt::format("max_shared_bytes {}", caps.max_shared_bytes), TN_SPACE_SHARED,
                        count);
    case Limit::kScratch:
      return use_memory(fmt::format("max_scratch_bytes {}", caps.max_scratch_bytes),
                        TN_SPACE_SCRATCH, count);
  }
  return {};
}

std::vector<int32_t> launch(Device& device, const Attempt& attempt, const Progress& progress) {
  const ExecutableRef executable = device.compile(*attempt.program.get());
  progress(RunPhase::kFirstLaunch);
  std::vector<BufferRef> buffers;
  for (const int32_t& input : attempt.inputs) {
    buffers.push_back(device.allocate(sizeof input, "input"));
    device.write(*buffers.back(), 0, &input, sizeof input);
  }
  std::vector<int32_t> out(attempt.expected.size(), -1);
  buffers.push_back(device.allocate(out.size() * sizeof out[0], "output"));
  std::vector<tn_argument> arguments;
  for (const BufferRef& buffer : buffers)
    arguments.push_back(
        {TN_ARGUMENT_BUFFER, 0, buffer->memory(), buffer->offset(), buffer->size(), 0});
  const auto& grid = attempt.grid;
  const auto& block = attempt.block;
  device.submit({sdk::launch_command(executable->handle, {grid[0], grid[1], grid[2]},
                                     {block[0], block[1], block[2]}, arguments)},
                buffers);
  device.synchronize();
  device.read(*buffers.back(), 0, out.data(), buffers.back()->size());
  return out;
}

Outcome try_limit(Device& device, const Attempt& attempt, const Progress& progress) {
  try {
    const std::vector<int32_t> got = launch(device, attempt, progress);
    const auto at = std::ranges::mismatch(got, attempt.expected).in1 - got.begin();
    if (got == attempt.expected) return {};
    return failed("limit", fmt::format("{} is claimed: expected element {} to be {}, got {}{}",
                                       attempt.limit, at, attempt.expected[static_cast<size_t>(at)],
                                       got[static_cast<size_t>(at)], kBeside));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kDeviceLost) throw;
    return failed("limit",
                  fmt::format("{} is claimed: {}{}", attempt.limit, error.what(), kBeside));
  }
}

}  // namespace

Outcome check_limit(Device& device, uint64_t seed, const Progress& progress) {
  const Capabilities& capabilities = device.capabilities();
  const DTypeCaps& caps = capabilities.of(static_cast<DType>(kDType));
  if (!caps.storage || !caps.arithmetic) return {};
  const auto [first, most] = range_of(capabilities, seed);
  if (most == 0) return {};
  Outcome outcome;
  gradually(first, most, [&](uint32_t count) {
    if (outcome.status != Status::kPass) return;
    progress(RunPhase::kCompile);
    outcome = try_limit(device, draw_attempt(capabilities, seed, count), progress);
  });
  return outcome;
}

}  // namespace tenon::conformance::judge
