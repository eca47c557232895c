/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Its driver never answers. */
#define PLUGIN_NAME "hangs"
#define PLUGIN_ENUMERATE hang
#include <stdint.h>
#include <unistd.h>

#include "tenon/plugin.h"

static int32_t hang(uint32_t capacity, uint32_t stride, tn_device_info* infos,
                    uint32_t reason_capacity, char* reason, uint32_t* out_count, tn_error* error) {
  (void)capacity, (void)stride, (void)infos, (void)reason_capacity, (void)reason, (void)out_count;
  (void)error;
  for (;;) pause();
  return TN_OK;
}
#include "../v1/plugin.c"
