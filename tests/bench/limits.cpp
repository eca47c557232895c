// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/limits.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "tests/bench/measure.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenon::bench {
namespace {

constexpr int kFmaRounds = 4000000;  // some milliseconds: threads take one to start
constexpr int kRounds = 9;

/// A limit is what the machine reaches when nothing disturbs it.
double best(const std::vector<double>& seconds) {
  return *std::min_element(seconds.begin(), seconds.end());
}

/// Runs work(0) .. work(threads - 1) at the same time.
template <class Work>
void in_parallel(int threads, const Work& work) {
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back([&work, t] { work(t); });
  work(0);
  for (std::thread& thread : others) thread.join();
}

float read_plainly(const float* from, size_t count) {
  float sum[64] = {};
  for (size_t i = 0; i < count; i += 64)
    for (size_t c = 0; c < 64; ++c) sum[c] += from[i + c];
  float out = 0;
  for (const float s : sum) out += s;
  return out;
}

#if defined(__x86_64__)
constexpr int kChains = 16;  // latency 4 at two a cycle needs 8

__attribute__((target("avx512f"))) float fma_512() {
  __m512 sum[kChains];
  const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(0.001f);
  for (__m512& s : sum) s = _mm512_set1_ps(1);
  for (int i = 0; i < kFmaRounds; ++i) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) sum[c] = _mm512_fmadd_ps(sum[c], a, b);
  }
  float lanes[16], out = 0;
  for (__m512& s : sum) {
    _mm512_storeu_ps(lanes, s);
    for (float lane : lanes) out += lane;
  }
  return out;
}

__attribute__((target("avx2,fma"))) float fma_256() {
  constexpr int kFewer = 12;  // of 16 registers
  __m256 sum[kFewer];
  const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
  for (__m256& s : sum) s = _mm256_set1_ps(1);
  for (int i = 0; i < kFmaRounds; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kFewer; ++c) sum[c] = _mm256_fmadd_ps(sum[c], a, b);
  }
  float lanes[8], out = 0;
  for (__m256& s : sum) {
    _mm256_storeu_ps(lanes, s);
    for (float lane : lanes) out += lane;
  }
  return out;
}

struct Peak {
  float (*run)() = nullptr;
  double flops = 0;  // of one call
};

Peak peak_kernel() {
  if (__builtin_cpu_supports("avx512f")) return {fma_512, 2.0 * 16 * kChains * kFmaRounds};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {fma_256, 2.0 * 8 * 12 * kFmaRounds};
  return {};
}

double fma_gflops(int threads) {
  const Peak peak = peak_kernel();
  if (!peak.run) return 0;
  std::vector<double> seconds;
  volatile float keep = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = now();
    in_parallel(threads, [&](int t) {
      const float result = peak.run();
      if (t == 0) keep = result;
    });
    seconds.push_back(now() - begin);
  }
  return peak.flops * threads / best(seconds) * 1e-9;
}

__attribute__((target("avx512f"))) void copy_512(float* to, const float* from, size_t count) {
  for (size_t i = 0; i < count; i += 64) {
    const __m512 a = _mm512_load_ps(from + i), b = _mm512_load_ps(from + i + 16);
    const __m512 c = _mm512_load_ps(from + i + 32), d = _mm512_load_ps(from + i + 48);
    _mm512_stream_ps(to + i, a);
    _mm512_stream_ps(to + i + 16, b);
    _mm512_stream_ps(to + i + 32, c);
    _mm512_stream_ps(to + i + 48, d);
  }
  _mm_sfence();
}

void copy_128(float* to, const float* from, size_t count) {
  for (size_t i = 0; i < count; i += 16)
    for (size_t j = 0; j < 16; j += 4) _mm_stream_ps(to + i + j, _mm_load_ps(from + i + j));
  _mm_sfence();
}

__attribute__((target("avx512f"))) float read_512(const float* from, size_t count) {
  __m512 sum[8];
  for (__m512& s : sum) s = _mm512_setzero_ps();
  for (size_t i = 0; i < count; i += 128) {
#pragma GCC unroll 8
    for (size_t c = 0; c < 8; ++c)
      sum[c] = _mm512_add_ps(sum[c], _mm512_load_ps(from + i + 16 * c));
  }
  float lanes[16], out = 0;
  for (__m512& s : sum) {
    _mm512_storeu_ps(lanes, s);
    for (float lane : lanes) out += lane;
  }
  return out;
}

void copy(float* to, const float* from, size_t count) {
  __builtin_cpu_supports("avx512f") ? copy_512(to, from, count) : copy_128(to, from, count);
}

float read_all(const float* from, size_t count) {
  return __builtin_cpu_supports("avx512f") ? read_512(from, count) : read_plainly(from, count);
}
#else
float read_all(const float* from, size_t count) { return read_plainly(from, count); }
double fma_gflops(int) { return 0; }
void copy(float* to, const float* from, size_t count) { std::memcpy(to, from, count * 4); }
#endif

struct AlignedDelete {
  void operator()(float* p) const { ::operator delete (p, std::align_val_t{4096}); }
};
using Floats = std::unique_ptr<float, AlignedDelete>;

Floats floats() {
  const size_t bytes = static_cast<size_t>(kCopyBytes);
  Floats out(static_cast<float*>(::operator new (bytes, std::align_val_t{4096})));
  std::memset(out.get(), 0, bytes);
  return out;
}

double copy_gbs(int threads) {
  const std::function<void()> copy = copy_contender(threads);
  std::vector<double> seconds;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = now();
    copy();
    seconds.push_back(now() - begin);
  }
  return 2.0 * kCopyBytes / best(seconds) * 1e-9;
}

}  // namespace

std::function<void()> copy_contender(int threads) {
  const auto from = std::make_shared<Floats>(floats()), to = std::make_shared<Floats>(floats());
  const size_t part =
      static_cast<size_t>(kCopyBytes) / sizeof(float) / static_cast<size_t>(threads);
  return [from, to, part, threads] {
    in_parallel(threads, [&](int t) {
      const size_t at = part * static_cast<size_t>(t);
      copy(to->get() + at, from->get() + at, part);
    });
  };
}

std::function<void()> read_contender(int threads) {
  const auto from = std::make_shared<Floats>(floats());
  const size_t part =
      static_cast<size_t>(kReadBytes) / sizeof(float) / static_cast<size_t>(threads);
  return [from, part, threads] {
    std::atomic<float> kept = 0;
    in_parallel(threads,
                [&](int t) { kept = read_all(from->get() + part * static_cast<size_t>(t), part); });
  };
}

Limits measure_limits(int most_threads) {
  Limits out;
  for (int threads = 1; threads <= most_threads; ++threads)
    out.all.push_back({threads, fma_gflops(threads), copy_gbs(threads)});
  return out;
}

}  // namespace tenon::bench
