/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A plugin that has no table and does not say why. */
#include "tenon/plugin.h"

TN_EXPORT const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min, uint32_t abi_max,
                                           tn_error* error) {
  (void)host, (void)abi_min, (void)abi_max, (void)error;
  return NULL;
}
