/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Its file says one backend, its table another. */
#define PLUGIN_NAME "other"
#include "../v1/plugin.c"
