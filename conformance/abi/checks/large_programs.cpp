// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of programs with many lanes, workgroups, iterations and ops.
#include <algorithm>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/checks/large_probes.hpp"
#include "conformance/abi/checks/last_groups.hpp"
#include "conformance/abi/checks/probe_programs.hpp"
#include "conformance/cases/gradually.hpp"
#include "sdk/program/verify_ops.hpp"

namespace tenon::conformance::abi::checks {
namespace {

/// More lanes than any device prefers, as long as it takes no second to compile them.
void wide_vectors(const CheckContext& c) {
  const OpenDevice device = computing(c);
  need(device.claims(TN_OP_BROADCAST), "the device takes no vectors");
  constexpr tn_dtype kDTypes[] = {TN_DTYPE_U32, TN_DTYPE_U8, TN_DTYPE_I64};
  bool any = false;
  gradually(33, 132, [&](uint32_t lanes) {
    for (const tn_dtype dtype : kDTypes) {
      c.alive();
      any |= run_probe(device, lanes_program(dtype, static_cast<uint16_t>(lanes)), false, 3);
    }
  });
  need(any, "the device takes no such program");
}

/// Grids of more than 2^16 workgroups in all, in one, two and three axes.
void many_workgroups(const CheckContext& c) {
  const OpenDevice device = computing(c);
  need(device.dtype_flags(TN_DTYPE_I32) & TN_DTYPE_ARITHMETIC, "no arithmetic on i32 is claimed");
  const LastGroups groups_of(device);
  need(groups_of.is_taken(), "the device takes no such program");
  constexpr uint32_t kMost = 200'000;
  const uint32_t* limit = device.properties().max_grid;
  const auto axis = [&](int at, uint32_t wanted) {
    return limit[at] ? std::min(limit[at], wanted) : wanted;
  };
  for (const std::array<uint32_t, 2>& sides :
       {std::array{1u, 1u}, std::array{300u, 1u}, std::array{1u, 300u}, std::array{33u, 71u}})
    // Along x alone at once beyond 2^16, which slow devices would not come to.
    gradually(sides[0] * sides[1] == 1 ? 66'000 : 4096, kMost, [&](uint32_t groups) {
      c.alive();
      const uint32_t y = axis(1, sides[0]), z = axis(2, sides[1]);
      const uint32_t grid[3] = {axis(0, std::max(groups / y / z, 1u)), y, z};
      groups_of.run(grid);
    });
}

/// The same as a probe, without a model, which would take longer than the device.
bool run_iterations(const OpenDevice& device, uint32_t iterations) {
  const sdk::Program program = iterations_program(iterations);
  const ExecutableHandle executable = compile_claimed(device, program, {1, 1, 1});
  if (!executable) return false;
  uint32_t wanted[2] = {1, 0}, got[2] = {};
  for (uint32_t i = 0; i < iterations; ++i) {
    wanted[0] = wanted[0] * 3 ^ i;
    wanted[1] = i;
  }
  const MemoryHandle out = any_memory(device, sizeof got);
  const tn_argument argument = buffer_argument(out.get(), 0, sizeof got);
  const tn_command command = launch_command(executable.get(), {1, 1, 1}, {}, {&argument, 1});
  device.run({&command, 1});
  device.read(out.get(), 0, 0, {reinterpret_cast<uint8_t*>(got), sizeof got});
  for (size_t k = 0; k < std::size(got); ++k)
    if (got[k] != wanted[k])
      find("mismatch", "a loop of {} iterations: expected {} in out[{}], got {}", iterations,
           wanted[k], k, got[k]);
  return true;
}

void long_loops(const CheckContext& c) {
  const OpenDevice device = computing(c);
  // The last look at the end is one, too.
  const uint32_t claimed = device.properties().max_loop_trips;
  const uint32_t most = claimed ? claimed - 1 : UINT32_MAX;
  bool any = false;
  for (const uint32_t iterations : {65'534u, 65'535u, 65'536u, 65'537u, 140'000u}) {
    c.alive();
    any |= run_probe(device, iterations_program(std::min(iterations, most)), false);
    if (iterations >= most) break;
  }
  // Beyond 2^20 where that takes no second.
  gradually(280'000, std::min(1'100'000u, most), [&](uint32_t iterations) {
    c.alive();
    any |= run_iterations(device, iterations);
  });
  // Few iterations, far from 0.
  constexpr int64_t kFar = int64_t{1} << 32;
  struct Range {
    int64_t begin, end, step;
  };
  constexpr Range kRanges[] = {{kFar - 3, kFar + 4, 1},
                               {-kFar - 2, -kFar + 3, 1},
                               {0, 5 * kFar, kFar},
                               {kFar / 2 - 2, kFar / 2 + 3, 1},
                               {-3 * kFar, 3 * kFar, kFar + 1},
                               {kFar * 1024 - 1, kFar * 1024 + 9, 3},
                               {INT64_MAX - 9, INT64_MAX - 1, 4}};
  for (const Range& range : kRanges) {
    c.alive();
    any |= run_probe(device, counter_program(range.begin, range.end, range.step), false);
  }
  need(any, "the device takes no such program");
}

/// Thousands of ops, beyond 2^15 where that takes no second to compile; saved, in more than 2^16
/// bytes.
void long_programs(const CheckContext& c) {
  const OpenDevice device = computing(c);
  bool any = false;
  gradually(2500, 40'000, [&](uint32_t ops) {
    c.alive();
    any |= run_probe(device, ops_program(ops), true);
  });
  need(any, "the device takes no such program");
}

/// Regions in each other up to the verifier's limit.
void deep_programs(const CheckContext& c) {
  const OpenDevice device = computing(c);
  bool any = false;
  for (const auto& [ifs, loops] :
       {std::pair(8u, 8u), std::pair(sdk::kMaxProgramNesting, 0u), std::pair(20u, 12u)}) {
    c.alive();
    any |= run_probe(device, deep_program(ifs, loops), false, 16);
  }
  for (const uint32_t depth : {2u, 5u}) {
    c.alive();
    any |= run_probe(device, branches_program(depth, most_threads(device.properties(), 32)), false);
  }
  need(any, "the device takes no such program");
}

/// Memory of each thread up to the limit, at most 24 KB; less where that takes long to compile.
void large_scratch(const CheckContext& c) {
  const OpenDevice device = computing(c);
  constexpr uint32_t kMost = 24'576;
  const uint32_t limit = device.properties().max_scratch_bytes;
  bool any = false;
  gradually(384, limit ? std::min(limit, kMost) : kMost, [&](uint32_t bytes) {
    // Of all threads together more than a MiB, at last.
    for (const uint32_t threads : {1u, 4u, 64u}) {
      if (threads > most_threads(device.properties(), threads)) continue;
      c.alive();
      any |= run_probe(device, scratch_program(threads, bytes / 4), false);
    }
  });
  need(any, "the device takes no such program");
}

}  // namespace

std::span<const CheckRow> program_form_checks() {
  static constexpr CheckRow kRows[] = {
      {"wide_vectors", wide_vectors, 56},
      {"deep_programs", deep_programs, 27},
  };
  return kRows;
}

std::span<const CheckRow> large_program_checks() {
  static constexpr CheckRow kRows[] = {
      {"many_workgroups", many_workgroups, 59},
      {"long_loops", long_loops, 59},
      {"long_programs", long_programs, 59},
      {"large_scratch", large_scratch, 27},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
