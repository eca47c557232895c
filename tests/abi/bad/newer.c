/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Speaks only a version that is not there yet. */
#define PLUGIN_NAME "newer"
#define PLUGIN_OWN_QUERY
#include "../v1/plugin.c"

const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min, uint32_t abi_max,
                                 tn_error* error) {
  (void)host;
  if (abi_min <= 7 && abi_max >= 7) return &table;
  fail(error, TN_ERROR_INCOMPATIBLE, "speaks ABI 7 to 7");
  return NULL;
}
