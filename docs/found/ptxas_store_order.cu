// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas 13.0.88: a store under a condition becomes one with an earlier store to the same place, and
// so passes a store between them that may go to that place too.
//   nvcc -arch=native ptxas_store_order.cu && ./a.out
// Expected: 1. Seen on an H100: 0, for what was stored last comes before what was stored second.
// PTX: st [rd1], -8; st [rd2], 0; @p st [rd2], -8; @!p st [rd1], 1;   SASS: both values
// selected, then STG [rd1], STG [rd2]. Here rd1 == rd2.
#include <cstdio>

__global__ void __launch_bounds__(1)
    stores(unsigned long long* __restrict__ out, const unsigned long long* __restrict__ in) {
  const int i = (int)blockIdx.x, j = (i & 3) * 5 + i;
  const unsigned long long wide = ~7ull;
  const bool is_other = in[i] != wide;
  out[j] = wide;
  out[i] = 0;
  if (is_other)
    out[j] = 1;
  else
    out[i] = wide;
  out[5 + i] = wide;
}

int main() {
  unsigned long long *in, *out;
  cudaMallocManaged(&in, sizeof *in);
  cudaMallocManaged(&out, 6 * sizeof *out);
  in[0] = 7, out[0] = 3;
  stores<<<1, 1>>>(out, in);
  cudaDeviceSynchronize();
  std::printf("%llu\n", out[0]);
}
