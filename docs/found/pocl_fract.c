// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PoCL 3.1 (Debian 12, LLVM 15, x86-64): fract(-0) and fract(-infinity) are +0, of float, double
// and their vectors.
//   cc pocl_fract.c -lOpenCL && ./a.out
// Expected: 80000000 80000000. OpenCL C 3.0, 7.5.1 (additional requirements beyond C99 TC2):
// "fract(-0, iptr) returns -0 and -0 in iptr", "fract(-infinity, iptr) returns -0 and -infinity in
// iptr". Seen: 00000000 00000000
#define CL_TARGET_OPENCL_VERSION 120
#include "pocl_run.h"

int main(void) {
  float x[2] = {-0.0f, -INFINITY};
  run("kernel void f(global float* x) {"
      "  size_t i = get_global_id(0); float whole; x[i] = fract(x[i], &whole); }",
      x, sizeof x, 2);
  print(x, 2);
}
