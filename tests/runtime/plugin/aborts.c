/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A plugin whose constructor ends the process: loading it must be a child's business. */
#include <stdio.h>
#include <stdlib.h>

#include "tenon/plugin.h"

__attribute__((constructor)) static void end_process(void) {
  fputs("no luck today\n", stderr);
  abort();
}

TN_EXPORT const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min, uint32_t abi_max,
                                           tn_error* error) {
  (void)host, (void)abi_min, (void)abi_max, (void)error;
  return NULL;
}
