/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A shared library that is no plugin. */
__attribute__((visibility("default"))) int something_else(void) { return 7; }
