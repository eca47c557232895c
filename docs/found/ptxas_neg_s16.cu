// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas 13.0.88, sm_75 to sm_100: the negative of a 16-bit integer is taken after it is widened.
//   nvcc -arch=native ptxas_neg_s16.cu && ./a.out
// Expected: -32768 (neg.s16 wraps) and 0 (-32768 is not above 0). Seen on an H100: 32768 and 1.
// PTX: neg.s16 %rs2, %rs1; cvt.s32.s16 %r1, %rs2;   SASS: PRMT R0, R2, 0x9910, RZ; IADD3 R7, RZ, -R0, RZ.
#include <cstdio>

__global__ void negative(const short* x, int* out) {
  const short n = (short)(0u - (unsigned)x[0]);
  out[0] = n;
  out[1] = n > x[1];
}

int main() {
  short* x;
  int* out;
  cudaMallocManaged(&x, 2 * sizeof *x);
  cudaMallocManaged(&out, 2 * sizeof *out);
  x[0] = -32768, x[1] = 0;
  negative<<<1, 1>>>(x, out);
  cudaDeviceSynchronize();
  std::printf("%d %d\n", out[0], out[1]);
}
