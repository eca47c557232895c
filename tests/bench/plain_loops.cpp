// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/plain_loops.hpp"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#define TENON_BENCH_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TENON_BENCH_CLONES
#endif

namespace tenon::bench {

TENON_BENCH_CLONES void plain_softmax(float* y, const float* x, size_t rows, size_t columns) {
  for (size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float peak = x[0];
    for (size_t c = 1; c < columns; ++c) peak = std::max(peak, x[c]);
    float sum = 0;
    for (size_t c = 0; c < columns; ++c) sum += y[c] = std::exp(x[c] - peak);
    const float scale = 1 / sum;
    for (size_t c = 0; c < columns; ++c) y[c] *= scale;
  }
}

TENON_BENCH_CLONES void plain_chain(float* y, const float* x, size_t count, float a, float b,
                                    float c, float d) {
  for (size_t i = 0; i < count; ++i) y[i] = std::max(x[i] * a + b, 0.0f) * c + d;
}

}  // namespace tenon::bench
