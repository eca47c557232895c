// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PoCL 3.1 (Debian 12, LLVM 15, x86-64): work-items that leave a loop early go on in it. The loop
// is left by breaks alone, at different iterations, and a barrier follows.
//   cc pocl_two_breaks.c -lOpenCL && POCL_KERNEL_CACHE=0 ./a.out
// Expected: 1 2 2 2 3 3 3 4, by the rules of C: work-item l is in the iterations with i = 0, 3, 6
// and 9 up to the first that is not below l, and the last at most; all meet at the barrier. Seen:
// 4 4 4 4 4 4 4 4. Without the barrier, or with steps of 1, or with i <= 9 as the loop's condition
// in place of the second break it is right.
#define CL_TARGET_OPENCL_VERSION 120
#include "pocl_run.h"

int main(void) {
  int x[8] = {0};
  run("kernel void f(global int* x) {\n"
      "  const int l = get_local_id(0);\n"
      "  int c = 0;\n"
      "  for (int i = 0;; i += 3) {\n"
      "    c += 1;\n"
      "    if (i >= l) break;\n"
      "    if (i >= 9) break;\n"
      "  }\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  x[l] = c;\n"
      "}\n",
      x, sizeof x, 8);
  for (int i = 0; i < 8; ++i) printf("%d%c", x[i], i < 7 ? ' ' : '\n');
}
