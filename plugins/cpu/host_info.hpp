// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this machine is: its processor's name, caches, memory and cores.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/cpu/host_rates.hpp"

namespace tenon::cpu {

struct HostInfo {
  std::string processor;  ///< as the system names it; "cpu" where it does not
  uint64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  ///< data caches of a core; 0: unknown
  uint64_t memory_bytes = 0;
  unsigned threads = 1;  ///< that this process may run at once
  HostRates rates;
};

HostInfo read_host_info();

}  // namespace tenon::cpu
