/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Its query reads through a null pointer. */
#define PLUGIN_NAME "crashes"
#define PLUGIN_OWN_QUERY
#include "../v1/plugin.c"

const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min, uint32_t abi_max,
                                 tn_error* error) {
  const tn_plugin* volatile nothing = NULL;
  (void)host, (void)abi_min, (void)abi_max, (void)error;
  return nothing->abi_version ? &table : NULL;
}
