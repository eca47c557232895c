// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/budget/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tenon {
namespace {

std::string_view text(AccessKind kind) {
  switch (kind) {
    case AccessKind::kLoad:
      return "load";
    case AccessKind::kStore:
      return "store";
    case AccessKind::kCopy:
      return "copy";
    case AccessKind::kAtomic:
      return "atomic";
    case AccessKind::kFragmentLoad:
      return "matrix load";
    case AccessKind::kFragmentStore:
      return "matrix store";
  }
  return "?";
}

std::string time_text(double seconds) {
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.2f} us", seconds * 1e6);
}

double flops(const Budget& budget, const Capabilities& device) {
  double out = 0;
  for (const auto& [id, count] : budget.work.atoms) {
    const auto atom = std::ranges::find(device.atoms, id, &MatrixAtom::id);
    if (atom != device.atoms.end()) out += 2.0 * count * atom->m * atom->n * atom->k;
  }
  for (const uint64_t size : budget.grid) out *= static_cast<double>(size);
  return out;
}

}  // namespace

std::string print(const Budget& budget, const sdk::ProgramView& program,
                  const Capabilities& device) {
  std::string out;
  const auto line = [&]<class... T>(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out), format, std::forward<T>(values)...);
    out += '\n';
  };
  line("kernel {}: {}x{}x{} workgroups of {}x{}x{} threads", budget.name, budget.grid[0],
       budget.grid[1], budget.grid[2], budget.workgroup[0], budget.workgroup[1],
       budget.workgroup[2]);
  line("  registers {}, spilled bytes {}, shared bytes {}", budget.compiled.registers,
       budget.compiled.spills, budget.compiled.shared_bytes);
  line("  resident workgroups {} (by {}), occupancy {:.2f}, waves {:.2f} on {} units",
       budget.resident, budget.resident_by, budget.occupancy, budget.waves, device.compute_units);
  const Work& work = budget.work;
  line(
      "  a workgroup: {:.0f} instructions but accesses, {:.0f} f32, {:.0f} f64, {:.0f} integer, "
      "{:.0f} special, {:.0f} exchanges, {:.0f} barriers",
      work.issues, work.floats, work.doubles, work.integers, work.specials, work.exchanges,
      work.barriers);
  for (const auto& [id, count] : work.atoms) {
    const auto atom = std::ranges::find(device.atoms, id, &MatrixAtom::id);
    if (atom != device.atoms.end())
      line("  a workgroup: {:.0f} products {}x{}x{} of {}", count, atom->m, atom->n, atom->k,
           dtype_name(atom->a));
  }
  line("  alone it takes {:.0f} clocks, {:.0f} of them waits for memory", budget.waits.path,
       budget.waits.memory);
  for (const AccessCost& access : budget.accesses) {
    const bool shared = is_shared(program, access.param);
    line("  {} {} {}, {} bytes at once: {:.0f} requests, {:.2f} {} each ({:.2f} at the least){}{}",
         shared ? "shared" : "global", text(access.kind),
         program.string(program.param(access.param).name), access.bytes, access.requests,
         access.pieces / access.requests, shared ? "wavefronts" : "sectors",
         access.least / access.requests, access.is_known ? "" : ", anywhere",
         access.cache_requests > 0 ? fmt::format(", {:.2f} requests to the cache",
                                                 access.cache_requests / access.requests)
                                   : "");
  }
  line("  from and to the cache {:.1f} MB, memory {:.1f} MB", budget.cache_bytes / 1e6,
       budget.memory_bytes / 1e6);
  for (const Bound& bound : budget.bounds)
    line("  bound {}: {}", bound.name, time_text(bound.seconds));
  line("  predicted {} by {}", time_text(budget.seconds), budget.bounds.front().name);
  if (!work.atoms.empty()) {
    const double rate = flops(budget, device) / budget.seconds;
    line("  {:.1f} TFLOP/s of matrix products, {:.2f} of what 16-bit floats reach at the most",
         rate / 1e12, rate / matrix_peak(device));
  }
  line("  {:.0f} GB/s of memory, {:.2f} of its rate", budget.memory_bytes / budget.seconds / 1e9,
       budget.memory_bytes / budget.seconds / (device.rates->memory_mbps * 1e6));
  return out;
}

}  // namespace tenon
