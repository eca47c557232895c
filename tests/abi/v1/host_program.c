/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * y[i] = x[i] + x[i] for i = grid.x, as a block of program format version 1, written by hand.
 */
#include "tenon/plugin.h"

enum { kX, kY, kIndex, kLoad, kAdd, kStore, kOps };

static const struct {
  tn_program header;
  tn_param params[2];
  tn_op ops[kOps];
  uint32_t operands[7];
  char data[16];
} block __attribute__((aligned(16))) = {
    .header = {.magic = TN_PROGRAM_MAGIC,
               .version = 1,
               .header_size = sizeof(tn_program),
               .total_size = sizeof block,
               .name = offsetof(__typeof__(block), data),
               .param_count = 2,
               .param_stride = sizeof(tn_param),
               .params = offsetof(__typeof__(block), params),
               .op_count = kOps,
               .op_stride = sizeof(tn_op),
               .ops = offsetof(__typeof__(block), ops),
               .operand_count = 7,
               .operands = offsetof(__typeof__(block), operands),
               .data_size = 16,
               .data = offsetof(__typeof__(block), data),
               .workgroup = {1, 1, 1}},
    .params = {{.kind = TN_PARAM_BUFFER,
                .dtype = TN_DTYPE_F32,
                .space = TN_SPACE_GLOBAL,
                .access = TN_ACCESS_READ,
                .alignment = 4,
                .name = offsetof(__typeof__(block), data) + 7},
               {.kind = TN_PARAM_BUFFER,
                .dtype = TN_DTYPE_F32,
                .space = TN_SPACE_GLOBAL,
                .access = TN_ACCESS_WRITE,
                .alignment = 4,
                .name = offsetof(__typeof__(block), data) + 9}},
    .ops = {{.op = TN_OP_PARAM, .lanes = 1, .dtype = TN_DTYPE_F32, .imm = 0},
            {.op = TN_OP_PARAM, .lanes = 1, .dtype = TN_DTYPE_F32, .imm = 1},
            {.op = TN_OP_INDEX, .lanes = 1, .dtype = TN_DTYPE_I32, .imm = TN_AXIS_GRID_X},
            {.op = TN_OP_TAKE, .lanes = 1, .dtype = TN_DTYPE_F32, .operand_count = 2},
            {.op = TN_OP_ADD, .lanes = 1, .dtype = TN_DTYPE_F32, .operand_count = 2, .operands = 2},
            {.op = TN_OP_STORE, .operand_count = 3, .operands = 4}},
    .operands = {kX, kIndex, kLoad, kLoad, kY, kIndex, kAdd},
    .data = "double\0x\0y"};

const tn_program* host_program(void) { return &block.header; }
