/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A wgpu-native of another version: to be refused before anything else is asked of it. */
#include <stdint.h>
#include <stdlib.h>

uint32_t wgpuGetVersion(void);
uint32_t wgpuGetVersion(void) { return 22u << 24 | 1u << 16 | 5; }

void* wgpuCreateInstance(const void* descriptor);
void* wgpuCreateInstance(const void* descriptor) {
  (void)descriptor;
  abort();
}
