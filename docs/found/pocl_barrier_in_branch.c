// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PoCL 3.1 (Debian 12, LLVM 15, x86-64): a legal kernel ends the process inside the compiler. It
// has a barrier in both branches of an if that is the same for all work-items, in a loop.
//   cc pocl_barrier_in_branch.c -lOpenCL && POCL_KERNEL_CACHE=0 ./a.out
// Expected: two words. OpenCL C 3.0, 6.15.8: a barrier inside a conditional statement must be met
// by all work-items if any enters it, and all of them do: every condition is of values that are the
// same. Seen: "Could not find a dominating alternative variable. ### dumped CFG to broken.dot",
// SIGABRT, when the kernel is enqueued.
#define CL_TARGET_OPENCL_VERSION 120
#include "pocl_run.h"

int main(void) {
  float data[16] = {0};
  run("kernel void f(global uint* x) {\n"
      "  local uint t[2];\n"
      "  const int l = get_local_id(0), n0 = x[8], n1 = x[9];\n"
      "  uint v0 = x[l * 4], v1 = x[l * 4 + 1], v2 = x[l * 4 + 2], v3 = x[l * 4 + 3];\n"
      "  int w = 0;\n"
      "  t[l] = v2;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  do {\n"
      "    w++;\n"
      "    if ((n1 & 3) == 0) {\n"
      "      if ((n0 & 3) == 1) {\n"
      "        barrier(CLK_LOCAL_MEM_FENCE);\n"
      "        v3 = (v0 & 1u) ? v2 : v0 + 3u;\n"
      "      } else {\n"
      "        v1 += t[(l + 1) % 2];\n"
      "        barrier(CLK_LOCAL_MEM_FENCE);\n"
      "      }\n"
      "    }\n"
      "    v0 = v0 ^ v0;\n"
      "  } while (w < 3);\n"
      "  t[l] = v1;\n"
      "  x[l * 4] = v0, x[l * 4 + 3] = v3;\n"
      "}\n",
      data, sizeof data, 2);
  print(data, 2);
}
