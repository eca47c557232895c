/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Forgot to fill the table: sizes and version are whatever memory held. */
#define PLUGIN_NAME "garbage"
#define PLUGIN_OWN_QUERY
#include "../v1/plugin.c"

const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min, uint32_t abi_max,
                                 tn_error* error) {
  static tn_plugin wrong;
  (void)host, (void)abi_min, (void)abi_max, (void)error;
  wrong = table;
  wrong.struct_size = 3;
  wrong.abi_version = 0xdeadbeef;
  return &wrong;
}
