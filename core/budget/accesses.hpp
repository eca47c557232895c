// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory accesses of the subgroups of a workgroup: bytes, sectors and bank conflicts.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "core/budget/subgroup_trace.hpp"
#include "core/ir/capabilities.hpp"
#include "sdk/program/view.hpp"

namespace tenon {

inline constexpr uint64_t kSectorBytes = 32;  ///< the unit in which memory is fetched
inline constexpr uint64_t kBankBytes = 4;
inline constexpr uint64_t kRequestBytes = 128;  ///< most bytes of one request to the cache

enum class AccessKind : uint8_t { kLoad, kStore, kCopy, kAtomic, kFragmentLoad, kFragmentStore };

/// Accesses of one kind and width to one buffer; sums over the subgroups of a workgroup.
struct AccessCost {
  uint32_t param = 0;
  AccessKind kind = AccessKind::kLoad;
  uint32_t bytes = 0;         ///< of one thread in one access
  double requests = 0;        ///< of a subgroup
  double moved = 0;           ///< bytes that threads asked for
  double pieces = 0;          ///< sectors of global memory, wavefronts of shared memory
  double wavefronts = 0;      ///< of global memory too: the L1 cache has the same banks
  double cache_requests = 0;  ///< of asynchronous copies, to the L2 cache
  double least = 0;           ///< pieces, if accesses of neighbouring threads were contiguous
  bool is_known = true;       ///< addresses do not depend on loaded values
};

/// One access of one subgroup: byte ranges relative to the buffer or to the workgroup's memory.
struct AccessAddresses {
  uint32_t op = 0, param = 0;
  AccessKind kind = AccessKind::kLoad;
  uint32_t bytes = 0;  ///< of each range
  bool is_known = false;
  double times = 0;
  std::vector<uint64_t> begins;
  uint64_t cache_requests = 0;  ///< of an asynchronous copy
};

/// All accesses of one subgroup, in program order. A wide access that is not known to be aligned is
/// split, as the printer does.
std::vector<AccessAddresses> addresses_of(const sdk::ProgramView& program,
                                          const SubgroupTrace& trace, const Capabilities& device);

/// Adds the sectors that the access touches.
void add_sectors(std::set<uint64_t>& sectors, const AccessAddresses& access);
/// Number of distinct sectors of an access.
uint64_t sectors(const AccessAddresses& access);
/// Wavefronts of an access to shared memory. Without bank conflicts a wavefront serves one word of
/// every bank; each conflict adds one (Nsight Compute, "Shared Memory").
uint64_t bank_wavefronts(const AccessAddresses& access, uint32_t banks);

/// Adds accesses to the costs, which are summed by buffer, kind and width.
void add_costs(std::vector<AccessCost>& costs, const std::vector<AccessAddresses>& accesses,
               const sdk::ProgramView& program, uint32_t banks);

bool is_shared(const sdk::ProgramView& program, uint32_t param);
bool is_global(const sdk::ProgramView& program, uint32_t param);

}  // namespace tenon
