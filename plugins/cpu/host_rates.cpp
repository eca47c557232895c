// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/cpu/host_rates.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace tenon::cpu {
namespace {

/// The shortest time of a few runs, in seconds.
template <class F>
double best_time(F&& run) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < 8; ++i) {
    const auto before = Clock::now();
    run(uint64_t{500});
    best = std::min(best, std::chrono::duration<double>(Clock::now() - before).count());
  }
  return best;
}

uint32_t rate(double products, double time, double f32_time) {
  return static_cast<uint32_t>(
      std::exp2(std::round(std::log2(256 * products / 16 * f32_time / time))));
}

}  // namespace

#if defined(__x86_64__)
// Ten independent sums of zeros, enough to hide the latency.
#define TENON_RUN(instruction)                                                                  \
  [](uint64_t trips) {                                                                          \
    asm volatile(                                                                               \
        "vpxor %%xmm0, %%xmm0, %%xmm0\n\t"                                                      \
        "vmovaps %%zmm0, %%zmm2\n\tvmovaps %%zmm0, %%zmm3\n\tvmovaps %%zmm0, %%zmm4\n\t"        \
        "vmovaps %%zmm0, %%zmm5\n\tvmovaps %%zmm0, %%zmm6\n\tvmovaps %%zmm0, %%zmm7\n\t"        \
        "vmovaps %%zmm0, %%zmm8\n\tvmovaps %%zmm0, %%zmm9\n\tvmovaps %%zmm0, %%zmm10\n\t"       \
        "vmovaps %%zmm0, %%zmm11\n"                                                             \
        "1:\n\t" instruction " %%zmm0, %%zmm0, %%zmm2\n\t" instruction                          \
        " %%zmm0, %%zmm0, %%zmm3\n\t" instruction " %%zmm0, %%zmm0, %%zmm4\n\t" instruction     \
        " %%zmm0, %%zmm0, %%zmm5\n\t" instruction " %%zmm0, %%zmm0, %%zmm6\n\t" instruction     \
        " %%zmm0, %%zmm0, %%zmm7\n\t" instruction " %%zmm0, %%zmm0, %%zmm8\n\t" instruction     \
        " %%zmm0, %%zmm0, %%zmm9\n\t" instruction " %%zmm0, %%zmm0, %%zmm10\n\t" instruction    \
        " %%zmm0, %%zmm0, %%zmm11\n\t"                                                          \
        "dec %0\n\tjnz 1b\n\tvzeroupper"                                                        \
        : "+r"(trips)                                                                           \
        :                                                                                       \
        : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", \
          "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");                                \
  }

HostRates measure_rates(const TargetSpec& host) {
  HostRates out;
  if (!host.dots_bf16 && !host.dots_i8) return out;
  const double f32 = best_time(TENON_RUN("vfmadd231ps"));
  if (host.dots_bf16) out.bf16 = rate(32, best_time(TENON_RUN("vdpbf16ps")), f32);
  if (host.dots_i8) out.i8 = rate(64, best_time(TENON_RUN("vpdpbusd")), f32);
  return out;
}
#undef TENON_RUN
#else
HostRates measure_rates(const TargetSpec&) { return {}; }
#endif

}  // namespace tenon::cpu
