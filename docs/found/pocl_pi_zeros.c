// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PoCL 3.1 (Debian 12, LLVM 15, x86-64): the zeros of sinpi, cospi and tanpi have the wrong sign,
// of float, double and their vectors.
//   cc pocl_pi_zeros.c -lOpenCL && ./a.out
// sinpi(3) sinpi(-3) cospi(0.5) cospi(-0.5) cospi(2.5) tanpi(1) tanpi(-1) tanpi(3), in that order.
// Expected: 00000000 80000000 00000000 00000000 00000000 80000000 00000000 80000000. OpenCL C 3.0,
// 7.5.1: "sinpi(+n) returns +0 for positive integers n", "sinpi(-n) returns -0 for negative
// integers n", "cospi(n + 0.5) returns +0 for any integer n where n + 0.5 is representable",
// "tanpi(n) returns copysign(0.0, -n) for odd integers n". Seen: 80000000 00000000 80000000
// 80000000 80000000 00000000 80000000 00000000
#define CL_TARGET_OPENCL_VERSION 120
#include "pocl_run.h"

int main(void) {
  float x[8] = {3, -3, 0.5f, -0.5f, 2.5f, 1, -1, 3};
  run("kernel void f(global float* x) {"
      "  size_t i = get_global_id(0);"
      "  x[i] = i < 2 ? sinpi(x[i]) : i < 5 ? cospi(x[i]) : tanpi(x[i]); }",
      x, sizeof x, 8);
  print(x, 8);
}
