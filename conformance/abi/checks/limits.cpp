// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that what the properties claim is there up to the last word, thread and workgroup.
#include <algorithm>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/checks/last_groups.hpp"
#include "conformance/abi/checks/probe_programs.hpp"
#include "conformance/cases/gradually.hpp"
#include "sdk/program/op_info.hpp"

namespace tenon::conformance::abi::checks {
namespace {

constexpr uint32_t kMostShared = 1 << 20;
constexpr uint32_t kMostThreads = 1 << 12;

void shared_memory(const CheckContext& c) {
  const OpenDevice device = computing(c);
  const uint32_t words = std::min(device.properties().max_shared_bytes, kMostShared) / 4;
  need(words >= 8, "the device claims no shared memory");
  const uint32_t threads = std::min(most_threads(device.properties(), 64), words);
  bool any = false;
  for (const uint32_t arrays : {1u, 2u, 3u, 8u}) {
    c.alive();
    // What is aligned between the arrays counts as well.
    const uint32_t used = arrays == 3 ? words - 3 * 4 : words / arrays * arrays;
    if (used < arrays) continue;
    any |= run_probe(device, shared_program(used, arrays, std::min(threads, used)), false);
  }
  need(any, "the device takes no program with shared memory");
}

/// A large array, of which words at constant distances from the thread's own are loaded, and then
/// stored to: distances that an offset in an instruction just holds or does not. It is filled, and
/// summed up, by a loop.
sdk::Program distances_program(tn_space space, uint32_t words, uint32_t threads) {
  sdk::ProgramBuilder b("distances");
  using Value = sdk::ProgramBuilder::Value;
  std::vector<uint32_t> distances;  // words; none reaches into another
  for (uint32_t at = 32; at + threads <= words; at *= 2)
    for (const uint32_t first : {at - threads, at})
      if (distances.empty() || first >= distances.back() + threads) distances.push_back(first);
  b.workgroup(threads, 1, 1);
  const auto count = static_cast<uint32_t>(distances.size());
  const Value out = b.buffer("out", TN_DTYPE_U32, kReadWrite, uint64_t{threads} * (count + 1));
  const Value array = b.allocate("array", TN_DTYPE_U32, space, words);
  const Value thread = b.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
  const auto beyond = [&](uint32_t distance) {
    return b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {thread, i32_constant(b, distance)});
  };
  const auto number = [&](Value index) { return b.op(TN_OP_CAST, TN_DTYPE_U32, 1, {index}); };
  const auto u32 = [&](tn_opcode op, Value x, Value y) {
    return b.op(op, TN_DTYPE_U32, 1, {x, y});
  };
  const auto store = [&](Value to, Value at, Value value) {
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {to, at, value});
  };
  const auto load = [&](Value at) { return b.op(TN_OP_TAKE, TN_DTYPE_U32, 1, {array, at}); };
  const auto barrier = [&] {
    if (space == TN_SPACE_SHARED) b.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, TN_SCOPE_BLOCK);
  };
  // All of it by each thread, or by turns.
  const bool is_own = space != TN_SPACE_SHARED;
  const auto begin_loop = [&](std::span<const Value> carried) {
    return b.begin_loop(is_own ? i32_constant(b, 0) : thread, i32_constant(b, words),
                        i32_constant(b, is_own ? 1 : threads), carried);
  };
  const Value i = begin_loop({});
  store(array, i, u32(TN_OP_MUL, number(i), b.constant(TN_DTYPE_U32, 0x01000193)));
  b.end();
  barrier();
  for (uint32_t k = 0; k < count; ++k) store(out, beyond(k * threads), load(beyond(distances[k])));
  barrier();
  for (const uint32_t distance : distances)
    store(array, beyond(distance),
          u32(TN_OP_XOR, number(thread), b.constant(TN_DTYPE_U32, distance << 8)));
  barrier();
  const Value zero[] = {b.constant(TN_DTYPE_U32, 0)};
  const Value sum = begin_loop(zero);
  const Value next[] = {
      u32(TN_OP_ADD, u32(TN_OP_MUL, sum + 1, b.constant(TN_DTYPE_U32, 3)), load(sum))};
  b.end(next);
  store(out, beyond(count * threads), sum + 1);
  return b.finish();
}

void constant_distances(const CheckContext& c) {
  constexpr uint32_t kMostScratch = 1 << 17, kThreads = 4;
  const OpenDevice device = computing(c);
  const uint32_t threads = most_threads(device.properties(), kThreads);
  const uint32_t shared = std::min(device.properties().max_shared_bytes, kMostShared);
  const uint32_t scratch = device.properties().max_scratch_bytes;
  bool any = false;
  for (const auto& [space, bytes] :
       {std::pair(TN_SPACE_SHARED, shared),
        {TN_SPACE_SCRATCH, scratch ? std::min(scratch, kMostScratch) : kMostScratch}}) {
    constexpr uint32_t kLess = 64;  // words: what wraps around at the end is not where it began
    if (bytes / 4 < kLess * 2) continue;
    c.alive();
    any |= run_probe(device, distances_program(space, bytes / 4 - kLess, threads), false);
  }
  need(any, "the device takes no such program");
}

void workgroup_shapes(const CheckContext& c) {
  const OpenDevice device = computing(c);
  const tn_properties& p = device.properties();
  const uint32_t most =
      p.max_workgroup_threads ? std::min(p.max_workgroup_threads, kMostThreads) : kMostThreads;
  uint32_t axes[3];
  for (int axis = 0; axis < 3; ++axis)
    axes[axis] = p.max_workgroup[axis] ? std::min(p.max_workgroup[axis], most) : most;
  std::vector<std::array<uint32_t, 3>> shapes = {{axes[0], 1, 1}, {1, axes[1], 1}, {1, 1, axes[2]},
                                                 {3, 2, 2},       {2, 3, 5},       {1, 4, 3}};
  // As full as it goes in two and in three axes.
  const uint32_t half = std::min(axes[0], std::max(most / 2, 1u));
  shapes.push_back({half, std::min(axes[1], most / half), 1});
  const uint32_t x = std::min(axes[0], 4u), y = std::min(axes[1], std::max(most / x / 2, 1u));
  shapes.push_back({x, y, std::min(axes[2], most / x / y)});
  bool any = false;
  for (const auto& shape : shapes) {
    c.alive();
    const uint32_t workgroup[3] = {shape[0], shape[1], shape[2]};
    any |= run_probe(device, shape_program(workgroup), false, 2);
  }
  need(any, "the device takes no such program");
}

void grid_limits(const CheckContext& c) {
  const OpenDevice device = computing(c);
  need(device.dtype_flags(TN_DTYPE_I32) & TN_DTYPE_ARITHMETIC, "no arithmetic on i32 is claimed");
  constexpr uint32_t kFirstGroups = 256, kMostGroups = 1 << 16;
  const LastGroups groups_of(device);
  need(groups_of.is_taken(), "the device takes no such program");
  for (int axis = 0; axis < 3; ++axis) {
    const uint32_t limit = device.properties().max_grid[axis];
    const uint32_t most = limit ? std::min(limit, kMostGroups) : kMostGroups;
    if (most < 4) continue;
    gradually(kFirstGroups, most, [&](uint32_t groups) {
      c.alive();
      uint32_t grid[3] = {1, 1, 1};
      grid[axis] = groups;
      groups_of.run(grid);
    });
  }
}

/// Numbers of workgroups that blocks of any size divide, but for one workgroup.
void odd_grids(const CheckContext& c) {
  const OpenDevice device = computing(c);
  need(device.dtype_flags(TN_DTYPE_I32) & TN_DTYPE_ARITHMETIC, "no arithmetic on i32 is claimed");
  const LastGroups groups_of(device);
  need(groups_of.is_taken(), "the device takes no such program");
  const uint32_t* limit = device.properties().max_grid;
  gradually(8, 1 << 15, [&](uint32_t power) {
    for (const uint32_t groups : {power / 2 - 1, power / 2 + 1, power - 1, power + 1})
      for (int axis = 0; axis < 3; ++axis) {
        if (limit[axis] && groups > limit[axis]) continue;
        c.alive();
        uint32_t grid[3] = {1, 1, 1};
        grid[axis] = groups;
        groups_of.run(grid);
      }
  });
}

void scalars(const CheckContext& c) {
  const OpenDevice device = computing(c);
  need(device.properties().flags & TN_DEVICE_SYMBOLIC, "the device takes no scalars");
  bool any = false;
  for (const tn_dtype_caps& row : device.dtypes()) {
    if (!(row.flags & TN_DTYPE_STORAGE)) continue;
    c.alive();
    any |= run_probe(device, scalar_program(static_cast<tn_dtype>(row.dtype), 16), false);
  }
  // Ranges that a narrower integer holds, or just does not.
  constexpr int64_t kWide = int64_t{1} << 32;
  constexpr ScalarRange kRanges[] = {{0, kWide - 1},
                                     {0, kWide},
                                     {0, kWide / 2},
                                     {-kWide / 2, kWide / 2 - 1},
                                     {kWide - 5, kWide + 9},
                                     {-kWide, 0},
                                     {0, 65535},
                                     {0, 255},
                                     {-128, 127},
                                     {-32768, 32767}};
  for (const tn_dtype dtype : {TN_DTYPE_I64, TN_DTYPE_U64, TN_DTYPE_I32, TN_DTYPE_U32}) {
    if (!(device.dtype_flags(dtype) & TN_DTYPE_STORAGE)) continue;
    const bool is_wide = sdk::dtype_bytes(uint8_t(dtype)) == 8;
    std::vector<ScalarRange> ranges;
    for (const auto& [least, most] : kRanges)
      if ((least >= 0 || sdk::is_signed(uint8_t(dtype))) &&
          (is_wide || (least >= INT32_MIN && most <= INT32_MAX)))
        ranges.emplace_back(least, most);
    c.alive();
    any |= run_probe(device, scalar_program(dtype, 12, ranges), false);
  }
  need(any, "the device takes no such program");
}

/// What a loaded executable may have lost.
void reloaded_programs(const CheckContext& c) {
  const OpenDevice device = computing(c);
  need(device.properties().flags & TN_DEVICE_SAVE, "the device saves no executables");
  bool any = false;
  const auto run = [&](const sdk::Program& program, uint32_t groups = 1) {
    c.alive();
    any |= run_probe(device, program, true, groups);
  };
  for (const tn_dtype dtype : {TN_DTYPE_I64, TN_DTYPE_U64, TN_DTYPE_F64}) {
    if (!(device.dtype_flags(dtype) & TN_DTYPE_STORAGE)) continue;
    run(constant_program(dtype));
    run(scalar_program(dtype, 5));
  }
  run(scalar_program(TN_DTYPE_I32, 5));
  const uint32_t threads = most_threads(device.properties(), 12);
  if (threads == 12)
    for (const auto& shape : {std::array{3u, 2u, 2u}, std::array{1u, 4u, 3u}}) {
      const uint32_t workgroup[3] = {shape[0], shape[1], shape[2]};
      run(shape_program(workgroup), 2);
    }
  const uint32_t words = std::min(device.properties().max_shared_bytes / 4, 1024u);
  if (words >= 64) run(shared_program(words, 2, std::min(threads, words)));
  need(any, "the device takes no such program");
}

}  // namespace

std::span<const CheckRow> limit_checks() {
  static constexpr CheckRow kRows[] = {
      {"shared_memory", shared_memory, 27},
      {"constant_distances", constant_distances, 27},
      {"workgroup_shapes", workgroup_shapes, 27},
      {"grid_limits", grid_limits, 27},
      {"odd_grids", odd_grids, 28},
      {"scalars", scalars, 54},
      {"reloaded_programs", reloaded_programs, 31},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
