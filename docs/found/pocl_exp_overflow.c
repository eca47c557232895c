// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PoCL 3.1 (Debian 12, LLVM 15, x86-64): exp of a double is infinity before it overflows, from
// about 1.7e-6 below the largest argument that has a finite result.
//   cc pocl_exp_overflow.c -lOpenCL && ./a.out
// Expected: fffffb2a 7fefffff, or up to 3 from it: exp(709.7827128933839) is
// 1.7976931348620688e308, which a double holds, and OpenCL C 3.0, 7.4 (ULP of double precision)
// wants exp within 3 ULP. Seen: 00000000 7ff00000 (infinity)
#define CL_TARGET_OPENCL_VERSION 120
#include "pocl_run.h"

int main(void) {
  double x[1] = {709.7827128933839};
  run("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
      "kernel void f(global double* x) { x[get_global_id(0)] = exp(x[get_global_id(0)]); }",
      x, sizeof x, 1);
  print((const float*)x, 2);
}
