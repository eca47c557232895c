/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Every type of the interface, within reach of abidiff. Compiled twice: with the frozen header, and
 * with today's. tn_plugin_query reaches the structs; kinds and codes travel as integers, so the
 * enums have a function of their own.
 */
#include "tenon/plugin.h"

const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min, uint32_t abi_max,
                                 tn_error* error) {
  (void)host, (void)abi_min, (void)abi_max, (void)error;
  return 0;
}

TN_EXPORT void tn_every_enum(tn_status, tn_log_level, tn_device_kind, tn_accuracy, tn_support,
                             tn_text_kind, tn_argument_kind, tn_command_kind, tn_dtype, tn_opcode,
                             tn_space, tn_param_kind, tn_axis, tn_scope, tn_atomic);
void tn_every_enum(tn_status a, tn_log_level b, tn_device_kind c, tn_accuracy d, tn_support e,
                   tn_text_kind f, tn_argument_kind g, tn_command_kind h, tn_dtype i, tn_opcode j,
                   tn_space k, tn_param_kind l, tn_axis m, tn_scope n, tn_atomic o) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
  (void)i, (void)j, (void)k, (void)l, (void)m, (void)n, (void)o;
}
