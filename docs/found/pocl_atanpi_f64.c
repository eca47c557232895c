// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PoCL 3.1 (Debian 12, LLVM 15, x86-64): atanpi(-0.0) of double is +0; that of float is right.
//   cc pocl_atanpi_f64.c -lOpenCL && ./a.out
// Expected: -0. OpenCL C 3.0, 7.5.1: "atanpi(+-0) returns +-0". Seen: 0
#define CL_TARGET_OPENCL_VERSION 120
#include "pocl_run.h"

int main(void) {
  double x[1] = {-0.0};
  run("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
      "kernel void f(global double* x) { x[0] = atanpi(x[0]); }",
      x, sizeof x, 1);
  printf("%g\n", x[0]);
}
