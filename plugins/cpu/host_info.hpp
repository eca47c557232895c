// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts about the machine: name of the processor, caches, memory and cores.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/cpu/host_rates.hpp"

namespace tenon::cpu {

struct HostInfo {
  std::string processor;                              ///< name given by the system, or "cpu"
  uint64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  ///< data caches of a core; 0: unknown
  uint64_t memory_bytes = 0;
  unsigned threads = 1;  ///< usable by this process at once
  HostRates rates;
};

HostInfo read_host_info();

}  // namespace tenon::cpu
