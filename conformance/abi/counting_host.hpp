// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tool's own tn_host: counts what plugins allocate through it, and can refuse the n-th call.
#pragma once

#include <cstdint>

#include "tenon/plugin.h"

namespace tenon::conformance::abi {

struct HostCounts {
  int64_t allocations = 0;  ///< since the process began
  int64_t live = 0;         ///< not released yet
  int64_t live_bytes = 0;
  int64_t wrong_releases = 0;  ///< of pointers that are not live, or of another size or alignment
};

const tn_host& counting_host();
HostCounts host_counts();
/// Call number `n` from now on (1 is the next) and all after it answer null; 0: none does.
void fail_host_allocations(int64_t n);
/// Whether one was refused since fail_host_allocations.
bool host_refused();

}  // namespace tenon::conformance::abi
