/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A library of WebGPU that states no version, as Dawn. */
#include <stdlib.h>

void* wgpuCreateInstance(const void* descriptor);
void* wgpuCreateInstance(const void* descriptor) {
  (void)descriptor;
  abort();
}
