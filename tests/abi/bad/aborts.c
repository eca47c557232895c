/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Its constructor ends the process that loads it. */
#define PLUGIN_NAME "aborts"
#include "../v1/plugin.c"

__attribute__((constructor)) static void end_it(void) { abort(); }
