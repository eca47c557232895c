// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the subgroups of a workgroup go to memory: what one access moves, in how many pieces.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "core/budget/subgroup_trace.hpp"
#include "core/ir/capabilities.hpp"
#include "sdk/program/view.hpp"

namespace tenon {

inline constexpr uint64_t kSectorBytes = 32;  ///< what memory is fetched in, at the least
inline constexpr uint64_t kBankBytes = 4;
inline constexpr uint64_t kAskedBytes = 128;  ///< of one request to the cache, at the most

enum class AccessKind : uint8_t { kLoad, kStore, kCopy, kAtomic, kFragmentLoad, kFragmentStore };

/// Accesses of one kind and width to one buffer; sums over the subgroups of a workgroup.
struct AccessCost {
  uint32_t param = 0;
  AccessKind kind = AccessKind::kLoad;
  uint32_t bytes = 0;    ///< of one thread at once
  double requests = 0;   ///< of a subgroup
  double moved = 0;      ///< bytes that threads asked for
  double pieces = 0;     ///< sectors of global memory, turns of the banks of shared memory
  double turns = 0;      ///< of global memory too: a unit's own cache has the same banks
  double asks = 0;       ///< of copies, of the cache that all units share
  double least = 0;      ///< pieces, if neighbours lay side by side
  bool is_known = true;  ///< addresses do not depend on what memory says
};

/// One access of one subgroup, as byte ranges from the buffer's (or the workgroup's) begin.
struct AccessAddresses {
  uint32_t op = 0, param = 0;
  AccessKind kind = AccessKind::kLoad;
  uint32_t bytes = 0;  ///< of each range
  bool is_known = false;
  double times = 0;
  std::vector<uint64_t> begins;
  uint64_t asks = 0;  ///< of a copy's global memory
};

/// Of all accesses of one subgroup, in the program's order; a wide access that is not known to be
/// aligned stands as several, as it is printed.
std::vector<AccessAddresses> addresses_of(const sdk::ProgramView& program,
                                          const SubgroupTrace& trace, const Capabilities& device);

/// Those that it touches.
void add_sectors(std::set<uint64_t>& sectors, const AccessAddresses& access);
/// Distinct ones.
uint64_t sectors(const AccessAddresses& access);
/// Turns that the banks take: a request is served 128 bytes at a time where no bank holds two of
/// them.
uint64_t bank_turns(const AccessAddresses& access, uint32_t banks);

/// Adds accesses to those of the same buffer, kind and width.
void add_costs(std::vector<AccessCost>& costs, const std::vector<AccessAddresses>& accesses,
               const sdk::ProgramView& program, uint32_t banks);

bool is_shared(const sdk::ProgramView& program, uint32_t param);
bool is_global(const sdk::ProgramView& program, uint32_t param);

}  // namespace tenon
