// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the machine calls itself.
#include <sys/utsname.h>

#include <fstream>
#include <thread>

#include "tests/bench/report.hpp"

namespace tenon::bench {

Machine describe_machine() {
  Machine out;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) out.cpu = line.substr(colon + 2);
    break;
  }
  out.cores = static_cast<int>(std::thread::hardware_concurrency());
  utsname system{};
  if (uname(&system) == 0) out.kernel = std::string(system.sysname) + " " + system.release;
#if defined(__x86_64__)
  out.isa = __builtin_cpu_supports("avx512f") ? "AVX-512"
            : __builtin_cpu_supports("avx2")  ? "AVX2"
                                              : "SSE2";
#else
  out.isa = "not x86-64";
#endif
  out.build = TENON_BUILD_TYPE;
  if (getloadavg(&out.load, 1) != 1) out.load = 0;
  return out;
}

}  // namespace tenon::bench
