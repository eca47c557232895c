// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PoCL 3.1 (Debian 12, LLVM 15, x86-64): a legal kernel ends the process inside the compiler. A
// loop has a barrier in it, and after that two loops in each other with a store by one work-item.
//   cc pocl_loops_around_barrier.c -lOpenCL && POCL_KERNEL_CACHE=0 ./a.out
// Expected: 3f800000 3f800000. OpenCL C, barrier(): in a loop it is met by all work-items in each
// iteration, and it is. Seen: "ParallelRegion.cc:346: ... Assertion `exit != NULL' failed",
// SIGABRT, when the kernel is enqueued.
#define CL_TARGET_OPENCL_VERSION 120
#include "pocl_run.h"

int main(void) {
  float data[64] = {0};
  run("kernel void f(global float* x) {\n"
      "  const int l = get_local_id(0);\n"
      "  float t[3];\n"
      "  for (int i = 0; i < 4; i += 1) {\n"
      "    for (int k = 0; k < 3; k += 1) t[k] = 1;\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
      "    for (int k = 0; k < 3; k += 1)\n"
      "      for (int j = 0; j < 5; j += 1) {\n"
      "        const float b = t[k];\n"
      "        if (l < 1) x[i * 15 + k * 5 + j] = b;\n"
      "      }\n"
      "  }\n"
      "}\n",
      data, sizeof data, 2);
  print(data, 2);
}
