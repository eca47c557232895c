// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PoCL 3.1 (Debian 12, LLVM 15, x86-64): a legal kernel ends the process inside the compiler. A
// loop has a sum of values that some work-items choose, a barrier, and an array of the work-item's
// own that those write and read in another loop.
//   cc pocl_selection_after_barrier.c -lOpenCL && POCL_KERNEL_CACHE=0 ./a.out
// Expected: 3f800000 3f800000. OpenCL C, barrier(): in a loop it is met by all work-items in each
// iteration, and it is; each iteration has words of its own in s. Seen: "ParallelRegion.cc:399:
// ... Assertion `0 && "Incoming edges to non-entry block!"' failed", SIGABRT, when the kernel is
// enqueued.
#define CL_TARGET_OPENCL_VERSION 120
#include "pocl_run.h"

int main(void) {
  float data[64] = {0};
  run("kernel void f(global float* x) {\n"
      "  const int l = get_local_id(0), ok = l < 3;\n"
      "  local float s[32];\n"
      "  float p[2];\n"
      "  for (int j = 0; j < 2; j++) {\n"
      "    float t = 0;\n"
      "    for (int k = 0; k < 7; k++) {\n"
      "      float u;\n"
      "      if (ok) { u = x[50 + k]; } else { u = 0; }\n"
      "      t += u;\n"
      "    }\n"
      "    s[j * 16 + l] = t + 1;\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
      "    const float v = s[j * 16];\n"
      "    if (ok) { p[j] = v; }\n"
      "  }\n"
      "  for (int j = 0; j < 2; j++) {\n"
      "    const float v = p[j];\n"
      "    if (ok) { x[l * 2 + j] = v; }\n"
      "  }\n"
      "}\n",
      data, sizeof data, 16);
  print(data, 2);
}
