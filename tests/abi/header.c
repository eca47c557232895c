/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * The headers alone, as C11. */
#include "tenon/ext/files.h"
#include "tenon/ext/graphs.h"
#include "tenon/ext/peers.h"
#include "tenon/ext/timing.h"
#include "tenon/plugin.h"

tn_error abi_header_as_c = TN_INIT(tn_error);

/* Consumers of the tables: one of nine columns, as version 1 had them, and ones that see more. */
#define TN_OP(name, code, text, arity, kind, types, level, flags, meaning) \
  {code, arity, sizeof text - 1, sizeof meaning - 1},
struct op_row {
  int code, arity;
  unsigned long text, meaning;
};
const struct op_row abi_ops_of_nine[] = {
#include "tenon/ops.def"
};
#define TN_OP_ROW(name, code, text, arity, kind, types, level, flags, meaning, ...) \
  {code, arity, 0, 0},
const struct op_row abi_ops[] = {
#include "tenon/ops.def"
};
#define TN_DTYPE(name, code, text, ...) {code, 0, 0, 0},
const struct op_row abi_dtypes[] = {
#include "tenon/dtypes.def"
};
#define TN_FAMILY(word) ABI_FAMILY_##word,
enum abi_family {
#include "tenon/op_words.def"
  ABI_FAMILIES
};
_Static_assert(ABI_FAMILIES > ABI_FAMILY_SELECT, "words are appended");
_Static_assert(sizeof abi_ops == sizeof abi_ops_of_nine, "both see every row");
